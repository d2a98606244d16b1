import pytest
from django.contrib.auth.models import Group
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.models import User
from accounts.services.keys import revoke_key
from accounts.tests.admin import rows, staff, superuser
from memories.models import Memory
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from spaces.access import access_for_key, member_levels

pytestmark = pytest.mark.django_db


def person_form(user: User, **changes: object) -> dict[str, object]:
    data = {
        "email": user.email,
        "display_name": user.display_name,
        "role": user.role,
        "is_active": "on",
        **rows("spaceuserpermission_set"),
        **rows("api_keys"),
    }
    return {name: value for name, value in (data | changes).items() if value is not None}


def change_page(user: User) -> str:
    return reverse("admin:accounts_user_change", args=[user.pk])


@pytest.mark.parametrize("granted", [(), ("change_user",), ("add_user", "change_user", "delete_user", "view_user")])
def test_staff_never_make_themselves_or_others_superusers(granted):
    client, user = staff(*granted)
    other = make_person()
    passwords = {"password1": "correct horse battery", "password2": "correct horse battery"}
    for target in (user, other):
        client.post(change_page(target), person_form(target, is_superuser="on", is_staff="on"))
        client.post(reverse("admin:auth_user_password_change", args=[target.pk]), passwords)
        client.post(reverse("admin:accounts_user_delete", args=[target.pk]), {"post": "yes"})
    client.post(reverse("admin:accounts_user_add"), {"email": "new@example.org", "display_name": "", "role": "Writer"})
    assert not User.objects.filter(is_superuser=True).exists()
    assert User.objects.count() == 2
    user.refresh_from_db()
    assert user.check_password("a long password")


def test_staff_neither_raise_their_role_nor_join_a_group_on_their_own_page():
    client, user = staff("change_user", "view_user", role="Reader")
    team = Group.objects.create(name="Team")
    answer = client.post(change_page(user), person_form(user, role="Writer", groups=[str(team.pk)]))
    assert answer.status_code == 403
    user.refresh_from_db()
    assert user.role == "Reader"
    assert not user.groups.exists()


def test_staff_who_may_look_see_nobody_but_themselves():
    client, user = staff("view_user")
    other = make_person("Somebody Else")
    listed = client.get(reverse("admin:accounts_user_changelist")).content.decode()
    assert user.email in listed
    assert other.email not in listed
    assert client.get(change_page(other)).status_code == 302


def test_staff_do_not_put_themselves_into_a_group():
    client, user = staff("change_group", "view_group", "add_user_groups", "change_user_groups")
    team = Group.objects.create(name="Team")
    assign_perm("manage_space", team, make_space())
    page = reverse("admin:auth_group_change", args=[team.pk])
    client.post(page, {"name": "Team", **rows("User_groups+", {"user": str(user.pk)})})
    assert not user.groups.exists()


def test_nobody_locks_themselves_out():
    client = superuser()
    own = User.objects.get()
    client.post(change_page(own), person_form(own, display_name="Renamed", is_active=None, is_superuser=None))
    own.refresh_from_db()
    assert (own.display_name, own.is_active, own.is_superuser, own.is_staff) == ("Renamed", True, True, True)
    assert client.post(reverse("admin:accounts_user_delete", args=[own.pk]), {"post": "yes"}).status_code == 403


def test_the_page_of_a_person_leads_to_their_password():
    client, person = superuser(), make_person()
    page = client.get(change_page(person)).content.decode()
    address = reverse("admin:auth_user_password_change", args=[person.pk])
    assert address in page
    assert "cannot sign in here" in page
    words = {"password1": "correct horse battery", "password2": "correct horse battery", "usable_password": "true"}
    client.post(address, words)
    person.refresh_from_db()
    assert person.check_password("correct horse battery")
    assert "A password is set." in client.get(change_page(person)).content.decode()


def test_a_page_shows_keys_without_their_text_and_with_their_state():
    client, person = superuser(), make_person()
    usable, revoked = make_key(person, make_space()), make_key(person)
    revoke_key(revoked.key)
    page = client.get(change_page(person)).content.decode()
    assert usable.key.key_prefix in page
    assert usable.secret not in page
    assert "usable" in page
    assert "revoked" in page


def test_deactivating_asks_first():
    client, person = superuser(), make_person()
    new = make_key(person, make_space())
    form = {"action": "deactivate", "_selected_action": [str(person.pk)]}
    page = client.post(reverse("admin:accounts_user_changelist"), form).content.decode()
    assert "refused from the next request on" in page
    assert person.email in page
    assert access_for_key(new.secret) is not None
    client.post(reverse("admin:accounts_user_changelist"), {**form, "confirmed": "yes"})
    assert access_for_key(new.secret) is None


def test_deleting_warns_and_takes_the_keys_and_the_authorship():
    client, person = superuser(), make_person()
    memory = remember(make_access(person=person), "Written by somebody who is deleted.")
    page = reverse("admin:accounts_user_delete", args=[person.pk])
    asked = client.get(page).content.decode()
    assert "stays without an author" in asked
    assert "Are you sure" in asked
    client.post(page, {"post": "yes"})
    assert not User.objects.filter(pk=person.pk).exists()
    assert Memory.objects.get(pk=memory.pk).created_by is None


def test_people_are_not_deleted_in_bulk():
    client, person = superuser(), make_person()
    client.post(
        reverse("admin:accounts_user_changelist"),
        {"action": "delete_selected", "_selected_action": [str(person.pk)], "post": "yes"},
    )
    assert User.objects.filter(pk=person.pk).exists()


def test_a_list_counts_usable_keys_and_spaces_of_the_person_and_their_groups():
    client, person = superuser(), make_person()
    one, two, three = make_space(), make_space(), make_space()
    make_key(person, one, two)
    revoke_key(make_key(person).key)
    team = Group.objects.create(name="Team")
    person.groups.add(team)
    for space in (two, three):
        assign_perm("read_space", team, space)
    listed = client.get(reverse("admin:accounts_user_changelist"), {"q": person.email}).content.decode()
    assert '<td class="field-spaces">3</td>' in listed
    assert '<td class="field-usable_keys">1</td>' in listed


def test_a_person_becomes_a_member_on_their_own_page():
    client, person, space = superuser(), make_person(), make_space()
    row = {"content_object": str(space.pk), "level": "read_space"}
    answer = client.post(change_page(person), person_form(person, **rows("spaceuserpermission_set", row)))
    assert answer.status_code == 302, answer.context["errors"]
    assert list(member_levels(person)) == [space.id]


def test_a_group_takes_people_in_on_its_own_page():
    client, person = superuser(), make_person()
    team = Group.objects.create(name="Team")
    page = reverse("admin:auth_group_change", args=[team.pk])
    answer = client.post(page, {"name": "Team", **rows("User_groups", {"user": str(person.pk)})})
    assert answer.status_code == 302, answer.context["errors"]
    assert list(person.groups.all()) == [team]
