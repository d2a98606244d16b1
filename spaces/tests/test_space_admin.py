import pytest
from django.contrib.auth.models import Group
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.tests.admin import rows, staff, superuser
from memories.models import Memory
from memories.search.service import search
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from spaces.models import Space
from spaces.signals import space_language_changed

pytestmark = pytest.mark.django_db


def change(client, space, **fields):
    data = {"name": space.name, "description": "", "language": space.language, "sensitivity": "medium"}
    inlines = {**rows("user_permissions"), **rows("group_permissions"), **rows("grants")}
    return client.post(reverse("admin:spaces_space_change", args=[space.pk]), {**data, **inlines, **fields})


@pytest.fixture
def heard():
    spaces = []

    def listen(sender, space, **kwargs):
        spaces.append(space.key)

    space_language_changed.connect(listen)
    yield spaces
    space_language_changed.disconnect(listen)


def test_a_key_is_fixed_once_the_space_is_there():
    client, space = superuser(), make_space("fixed")
    assert change(client, space, key="renamed", name="New name").status_code == 302
    space.refresh_from_db()
    assert (space.key, space.name) == ("fixed", "New name")


def test_a_taken_key_is_told():
    make_space("taken")
    client = superuser()
    inlines = {**rows("user_permissions"), **rows("group_permissions"), **rows("grants")}
    answer = client.post(
        reverse("admin:spaces_space_add"),
        {"key": "taken", "name": "", "language": "simple", "sensitivity": "medium", **inlines},
    )
    assert "already exists" in answer.content.decode()
    assert Space.objects.count() == 1


def test_only_a_changed_language_indexes_anew(heard):
    client, space = superuser(), make_space("s")
    change(client, space, name="Other")
    assert heard == []
    change(client, space, language="german")
    assert heard == ["s"]


def test_words_are_found_in_the_new_language(django_capture_on_commit_callbacks):
    client, space = superuser(), make_space(language="english")
    access = make_access(space)
    remember(access, "Die Häuser stehen am Fluss.")
    with django_capture_on_commit_callbacks() as callbacks:
        change(client, space, language="german")
    assert callbacks
    from memories.services.reindex import reindex_words

    assert reindex_words(Space.objects.get()) == 1
    fresh = make_access(Space.objects.get())
    assert [match.memory.text for match in search(fresh, query="Haus").matches] == ["Die Häuser stehen am Fluss."]


def test_words_are_indexed_anew_on_request(heard):
    client = superuser()
    one, _ = make_space("one"), make_space("two")
    client.post(reverse("admin:spaces_space_changelist"), {"action": "index_words", "_selected_action": [str(one.pk)]})
    assert heard == ["one"]


def test_an_empty_space_is_deleted_with_its_members_and_grants():
    client, space, person = superuser(), make_space(), make_person()
    make_key(person, space)
    page = reverse("admin:spaces_space_delete", args=[space.pk])
    assert "Are you sure" in client.get(page).content.decode()
    client.post(page, {"post": "yes"})
    assert not Space.objects.exists()


def test_a_space_in_which_something_was_saved_is_never_deleted():
    client, space = superuser(), make_space()
    remember(make_access(space), "Kept.")
    assert client.post(reverse("admin:spaces_space_delete", args=[space.pk]), {"post": "yes"}).status_code == 403
    client.post(
        reverse("admin:spaces_space_changelist"),
        {"action": "delete_selected", "_selected_action": [str(space.pk)], "post": "yes"},
    )
    assert Memory.objects.exists()


def test_counts_of_the_list_are_those_of_the_space():
    client, space = superuser(), make_space()
    for name in ("One", "Two"):
        person = make_person(name)
        for codename in ("read_space", "write_space"):
            assign_perm(codename, person, space)
    remember(make_access(space), "One memory.")
    listed = client.get(reverse("admin:spaces_space_changelist")).content.decode()
    for column, number in (("members", 3), ("memories", 1), ("documents", 1), ("keys", 1)):
        assert f'<td class="field-{column}">{number}</td>' in listed


def test_a_manager_changes_the_managed_space_and_no_other(heard):
    client, user = staff()
    managed, foreign = make_space("managed"), make_space("foreign")
    assign_perm("manage_space", user, managed)
    assign_perm("write_space", user, foreign)
    assert change(client, managed, name="Changed").status_code == 302
    assert change(client, foreign, name="Changed").status_code == 302
    assert {space.key: space.name for space in Space.objects.all()} == {"managed": "Changed", "foreign": "foreign"}
    client.post(
        reverse("admin:spaces_space_changelist"), {"action": "index_words", "_selected_action": [str(foreign.pk)]}
    )
    assert heard == []
    assert client.post(reverse("admin:spaces_space_delete", args=[managed.pk]), {"post": "yes"}).status_code == 403
    assert client.get(reverse("admin:spaces_space_add")).status_code == 403


def test_a_manager_through_a_group_counts_and_stops_counting():
    client, user = staff()
    space, team = make_space("managed"), Group.objects.create(name="Team")
    assign_perm("manage_space", team, space)
    page = reverse("admin:spaces_space_change", args=[space.pk])
    assert client.get(page).status_code == 403
    user.groups.add(team)
    assert client.get(page).status_code == 200
    user.is_staff = False
    user.save()
    assert client.get(page).status_code == 302


def test_a_manager_cannot_add_members_by_posting_their_rows():
    client, user = staff()
    space, other = make_space("managed"), make_person()
    assign_perm("manage_space", user, space)
    change(client, space, **rows("user_permissions", {"user": str(other.pk), "level": "manage_space"}))
    assert list(space.user_permissions.values_list("user", flat=True)) == [user.pk]
