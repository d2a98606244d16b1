"""One member, one level, whatever was given before and wherever it is changed."""

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from guardian.shortcuts import assign_perm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from accounts.tests.admin import rows, superuser
from memories.tests.factories import make_person, make_space
from spaces.access import member_levels
from spaces.models import AccessLevel, Space, SpaceUserPermission
from spaces.services.members import MEMBER_PERMISSIONS, remove_member, set_member_permission
from spaces.services.provisioning import add_member

pytestmark = pytest.mark.django_db


def held(space: Space) -> dict[str, str]:
    pairs = SpaceUserPermission.objects.filter(content_object=space).values_list(
        "user__display_name", "permission__codename"
    )
    assert len(dict(pairs)) == len(pairs), "a member with two levels"
    return dict(pairs)


def save(client, space, *filled, initial=0, groups=()):
    return client.post(
        reverse("admin:spaces_space_change", args=[space.pk]),
        {
            "name": space.name,
            "language": "english",
            "sensitivity": "medium",
            **rows("user_permissions", *filled, initial=initial),
            **rows("group_permissions", *groups),
            **rows("grants"),
        },
    )


def row(person: User, level: str, **more: object) -> dict[str, object]:
    found = SpaceUserPermission.objects.filter(user=person).first()
    return (
        {"user": str(person.pk), "level": level}
        | ({"id": found.pk} if found and more.pop("stored", True) else {})
        | more
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(MEMBER_PERMISSIONS), min_size=1, max_size=5))
def test_the_last_level_is_the_only_one(levels):
    person, space = make_person("Ada"), make_space()
    for level in levels:
        set_member_permission(space, person, level)
    assert held(space) == {"Ada": levels[-1]}


def test_adding_a_member_raises_the_level_and_never_lowers_it():
    person, space = make_person("Ada"), make_space()
    assert add_member(person, space, AccessLevel.READ)
    assert add_member(person, space, AccessLevel.READ_WRITE)
    assert not add_member(person, space, AccessLevel.READ)
    assert held(space) == {"Ada": "write_space"}
    set_member_permission(space, person, "manage_space")
    assert not add_member(person, space, AccessLevel.READ_WRITE)
    assert held(space) == {"Ada": "manage_space"}


def test_a_group_is_a_member_like_a_person():
    team, person, space = Group.objects.create(name="Team"), make_person(), make_space()
    person.groups.add(team)
    set_member_permission(space, team, "write_space")
    set_member_permission(space, team, "read_space")
    assert member_levels(person) == {space.id: AccessLevel.READ}
    remove_member(space, team)
    assert member_levels(person) == {}


def test_removing_a_member_removes_every_permission_of_theirs_and_nobody_elses():
    one, two, space = make_person("One"), make_person("Two"), make_space()
    for codename in ("read_space", "write_space"):
        assign_perm(codename, one, space)
    assign_perm("read_space", two, space)
    remove_member(space, one)
    assert held(space) == {"Two": "read_space"}


def test_the_page_changes_a_level():
    client, person, space = superuser(), make_person("Ada"), make_space()
    set_member_permission(space, person, "write_space")
    assert save(client, space, row(person, "manage_space"), initial=1).status_code == 302
    assert held(space) == {"Ada": "manage_space"}


def test_the_page_shows_one_row_for_several_permissions_and_lowers_them_all():
    client, person, space = superuser(), make_person("Ada"), make_space()
    for codename in MEMBER_PERMISSIONS:
        assign_perm(codename, person, space)
    page = client.get(reverse("admin:spaces_space_change", args=[space.pk])).context
    (shown,) = (f for f in page["inline_admin_formsets"] if f.formset.prefix == "user_permissions")
    assert [form.fields["level"].initial for form in shown.formset.initial_forms] == ["manage_space"]
    stored = shown.formset.initial_forms[0].instance.pk
    assert save(client, space, row(person, "read_space", id=stored), initial=1).status_code == 302
    assert held(space) == {"Ada": "read_space"}


def test_the_page_removes_a_member_and_adds_another():
    client, one, two, space = superuser(), make_person("One"), make_person("Two"), make_space()
    set_member_permission(space, one, "write_space")
    answer = save(client, space, row(one, "write_space", DELETE="on"), row(two, "read_space"), initial=1)
    assert answer.status_code == 302
    assert held(space) == {"Two": "read_space"}


def test_the_page_gives_a_row_to_somebody_else():
    client, one, two, space = superuser(), make_person("One"), make_person("Two"), make_space()
    stored = set_member_permission(space, one, "write_space")
    assert (
        save(client, space, {"id": stored.pk, "user": str(two.pk), "level": "write_space"}, initial=1).status_code
        == 302
    )
    assert held(space) == {"Two": "write_space"}


def test_two_rows_change_places_in_one_save():
    client, one, two, space = superuser(), make_person("One"), make_person("Two"), make_space()
    first, second = set_member_permission(space, one, "write_space"), set_member_permission(space, two, "read_space")
    swapped = (
        {"id": first.pk, "user": str(two.pk), "level": "write_space"},
        {"id": second.pk, "user": str(one.pk), "level": "read_space"},
    )
    assert save(client, space, *swapped, initial=2).status_code == 302
    assert held(space) == {"One": "read_space", "Two": "write_space"}


def test_a_member_twice_is_refused_in_words():
    client, person, space = superuser(), make_person("Ada"), make_space()
    answer = save(client, space, row(person, "read_space"), row(person, "write_space"))
    assert "in the list twice" in answer.content.decode()
    assert held(space) == {}


def test_a_group_is_added_on_the_page():
    client, space, team = superuser(), make_space(), Group.objects.create(name="Team")
    person = make_person()
    person.groups.add(team)
    assert save(client, space, groups=[{"group": team.pk, "level": "write_space"}]).status_code == 302
    assert member_levels(person) == {space.id: AccessLevel.READ_WRITE}


def test_what_was_not_touched_stays_as_another_administrator_made_it():
    client, person, space = superuser(), make_person("Ada"), make_space()
    set_member_permission(space, person, "write_space")
    unchanged = row(person, "write_space")
    late = make_person("Late")
    set_member_permission(space, late, "read_space")
    assert save(client, space, unchanged, initial=1).status_code == 302
    assert held(space) == {"Ada": "write_space", "Late": "read_space"}


def test_a_page_costs_one_query_a_member_for_the_person_its_field_shows_and_no_more():
    client, counts = superuser(), []
    for number in (1, 12):
        space = make_space()
        for _ in range(number):
            set_member_permission(space, make_person(), "read_space")
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("admin:spaces_space_change", args=[space.pk]))
        counts.append(len(queries))
    assert counts[1] - counts[0] == 11
