"""Who manages a space gives and takes its memberships in the admin, and reaches nothing else by it."""

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.models import User
from accounts.tests.admin import rows, staff
from memories.tests.factories import make_key, make_person, make_space
from spaces.access import access_for_key, member_levels
from spaces.models import AccessLevel, Space, SpaceGroupPermission, SpaceUserPermission
from spaces.services.members import set_member_permission

pytestmark = pytest.mark.django_db


@pytest.fixture
def space() -> Space:
    return make_space("managed")


@pytest.fixture
def manager(space) -> tuple[Client, User]:
    client, user = staff()
    assign_perm("manage_space", user, space)
    return client, user


def page(space: Space) -> str:
    return reverse("admin:spaces_space_change", args=[space.pk])


def people(*filled: dict[str, object], initial: int = 0) -> dict[str, object]:
    return rows("user_permissions", *filled, initial=initial)


def row_of(space: Space, member: User) -> dict[str, object]:
    row = SpaceUserPermission.objects.get(content_object=space, user=member)
    return {
        "id": row.pk, "content_object": str(space.pk), "user": member.email,
        "level": row.permission.codename,
    }  # fmt: skip


def save(client: Client, space: Space, members: dict[str, object], **fields: object):
    data = {
        "name": space.name,
        "description": "",
        "language": space.language,
        "sensitivity": "medium",
        **rows("group_permissions"),
    }
    return client.post(page(space), {**data, **members, **fields})


def test_a_member_is_named_by_address_and_gets_the_level(manager, space):
    client, user = manager
    person = make_person()
    new = {"user": person.email.upper(), "level": "read_space", "content_object": str(space.pk), "id": ""}
    assert save(client, space, people(row_of(space, user), new, initial=1)).status_code == 302
    assert member_levels(person) == {space.pk: AccessLevel.READ}
    assert member_levels(user) == {space.pk: AccessLevel.READ_WRITE}


def test_members_are_shown_changed_and_removed(manager, space):
    client, user = manager
    changed, removed = make_person("Changed"), make_person("Removed")
    for person in (changed, removed):
        set_member_permission(space, person, "read_space")
    key = make_key(removed, space)
    shown = client.get(page(space)).content.decode()
    assert changed.email in shown
    assert removed.email in shown
    ordered = sorted((user, changed, removed), key=lambda person: person.email)
    filled = [row_of(space, person) for person in ordered]
    filled[ordered.index(changed)]["level"] = "write_space"
    filled[ordered.index(removed)]["DELETE"] = "on"
    assert save(client, space, people(*filled, initial=3)).status_code == 302
    assert member_levels(changed) == {space.pk: AccessLevel.READ_WRITE}
    assert member_levels(removed) == {}
    assert access_for_key(key.secret).spaces == ()


def test_a_group_is_named_too(manager, space):
    client, user = manager
    group = Group.objects.create(name="Team")
    new = rows("group_permissions", {"group": "team", "level": "write_space", "content_object": str(space.pk)})
    assert save(client, space, people(row_of(space, user), initial=1), **new).status_code == 302
    assert SpaceGroupPermission.objects.get().group == group


@pytest.mark.parametrize("address", ["nobody@example.org", "%", "\x00", "x" * 500])
def test_an_unknown_address_is_told_and_nothing_is_stored(manager, space, address):
    client, user = manager
    new = {"user": address, "level": "read_space", "content_object": str(space.pk), "id": ""}
    answer = save(client, space, people(row_of(space, user), new, initial=1))
    assert answer.status_code == 200
    said = answer.content.decode()
    assert "Nobody has this e-mail address" in said or "Null characters" in said
    assert SpaceUserPermission.objects.count() == 1


def test_nobody_else_is_shown_or_offered(manager, space):
    client, _ = manager
    other = make_person("Somebody else")
    assert other.email not in client.get(page(space)).content.decode()
    offered = client.get(
        reverse("admin:autocomplete"),
        {"app_label": "spaces", "model_name": "spaceuserpermission", "field_name": "user", "term": ""},
    )
    assert offered.status_code == 403


def test_other_spaces_people_and_their_flags_are_out_of_reach(manager, space):
    client, user = manager
    foreign, person = make_space("foreign"), make_person()
    # A row of the form that claims to belong to another space.
    planted = {"user": person.email, "level": "manage_space", "content_object": str(foreign.pk), "id": ""}
    save(client, foreign, people(planted))
    save(client, space, people(row_of(space, user), planted, initial=1))
    assert not SpaceUserPermission.objects.filter(content_object=foreign).exists()
    # A row that is another space's.
    set_member_permission(foreign, person, "read_space")
    stolen = row_of(foreign, person) | {"level": "manage_space", "DELETE": "on"}
    save(client, space, people(stolen, initial=1))
    assert member_levels(person)[foreign.pk] == AccessLevel.READ
    for target in (user, person):
        client.post(
            reverse("admin:accounts_user_change", args=[target.pk]),
            {"email": target.email, "is_superuser": "on", "is_staff": "on", "role": "Writer"},
        )
    assert not User.objects.filter(is_superuser=True).exists()
    assert User.objects.filter(is_staff=True).get() == user


def test_who_only_writes_manages_nothing(space):
    client, user = staff()
    assign_perm("write_space", user, space)
    new = {"user": make_person().email, "level": "read_space", "content_object": str(space.pk), "id": ""}
    assert save(client, space, people(new)).status_code == 403
    assert SpaceUserPermission.objects.count() == 1
