import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from guardian.shortcuts import assign_perm, remove_perm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import ApiKey, Role
from accounts.services.keys import revoke_key
from accounts.services.users import set_active
from core.errors import AccessDenied, Invalid, NotFound
from memories.tests.factories import make_access, make_key, make_person, make_space
from spaces.access import access_for_key, member_levels
from spaces.models import AccessLevel, SpaceGrant, SpaceUserPermission
from spaces.services.spaces import set_active_space

pytestmark = pytest.mark.django_db


def levels(key: str) -> dict[str, str]:
    access = access_for_key(key)
    assert access is not None
    return {space.key: space.level.wire for space in access.spaces}


def test_the_effective_level_is_the_lowest_of_role_membership_and_grant():
    space = make_space("s")
    cases = {}
    for role in (Role.WRITER, Role.READER):
        for grant in AccessLevel:
            cases[role, grant] = levels(make_key(make_person(role=role), space, level=grant).secret)["s"]
    assert cases == {
        (Role.WRITER, AccessLevel.READ_WRITE): "ReadWrite",
        (Role.WRITER, AccessLevel.READ): "Read",
        (Role.READER, AccessLevel.READ_WRITE): "Read",
        (Role.READER, AccessLevel.READ): "Read",
    }


def test_a_membership_that_is_narrowed_narrows_every_key():
    person, space = make_person(), make_space("s")
    key = make_key(person, space).secret
    remove_perm("write_space", person, space)
    assign_perm("read_space", person, space)
    assert levels(key) == {"s": "Read"}


def test_a_removed_member_loses_the_space_on_all_keys():
    person, space = make_person(), make_space("s")
    keys = [make_key(person, space).secret for _ in range(2)]
    SpaceUserPermission.objects.filter(user=person).delete()
    assert [levels(key) for key in keys] == [{}, {}]


def test_a_group_makes_its_people_members():
    person, space = make_person(), make_space("s")
    key = make_key(person, space).secret
    SpaceUserPermission.objects.filter(user=person).delete()
    team = Group.objects.create(name="Team")
    assign_perm("write_space", team, space)
    assert levels(key) == {}
    person.groups.add(team)
    assert levels(key) == {"s": "ReadWrite"}


def test_whoever_manages_a_space_may_read_and_write_it():
    person, space = make_person(), make_space()
    assign_perm("manage_space", person, space)
    assert member_levels(person) == {space.id: AccessLevel.READ_WRITE}


def test_an_empty_list_of_grants_reaches_nothing():
    access = access_for_key(make_key(make_person()).secret)
    assert access is not None
    assert access.spaces == ()
    make_space("anything")
    for tag in (None, "anything"):
        with pytest.raises(NotFound):
            access.space(tag)


def test_revoked_expired_and_unknown_keys_and_inactive_people_do_not_authenticate():
    person = make_person()
    revoked, expired, inactive = (make_key(person, make_space()) for _ in range(3))
    revoke_key(revoked.key)
    ApiKey.objects.filter(id=expired.key.id).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert access_for_key(revoked.secret) is None
    assert access_for_key(expired.secret) is None
    assert access_for_key("mmcp_unknown") is None
    assert access_for_key(inactive.secret) is not None
    set_active(person, False)
    assert access_for_key(inactive.secret) is None
    set_active(person, True)
    assert access_for_key(inactive.secret) is not None
    assert access_for_key(revoked.secret) is None


def test_identifying_a_caller_costs_three_queries_however_many_spaces(django_assert_num_queries):
    few, many = make_key(make_person(), make_space()), make_key(make_person(), *(make_space() for _ in range(8)))
    for new in (few, many):
        with django_assert_num_queries(3):
            access_for_key(new.secret)


def test_an_unknown_and_a_foreign_space_raise_the_same():
    make_space("foreign")
    access = make_access()
    texts = []
    for tag in ("foreign", "unknown"):
        with pytest.raises(NotFound) as caught:
            access.space(tag)
        texts.append(caught.value.message.replace(tag, ""))
    assert texts[0] == texts[1]


def test_names_of_spaces_are_compared_exactly():
    access = make_access("Team")
    assert access.space("Team").key == "Team"
    for tag in ("team", "Team ", "TEAM"):
        with pytest.raises(NotFound):
            access.space(tag)


def test_below_the_asked_level_access_is_denied():
    access = make_access("s", level=AccessLevel.READ)
    assert access.space("s").key == "s"
    with pytest.raises(AccessDenied):
        access.space("s", AccessLevel.READ_WRITE)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_no_text_opens_a_space(tag):
    with pytest.raises((NotFound, Invalid)):
        make_access_once().space(tag)


_access = {}


def make_access_once():
    if "one" not in _access:
        _access["one"] = make_access("a-space-with-a-long-name")
    return _access["one"]


def test_the_database_holds_at_most_one_active_space_for_a_key():
    one, two = make_space(), make_space()
    key = make_key(make_person(), one, two).key
    with pytest.raises(IntegrityError), transaction.atomic():
        SpaceGrant.objects.filter(api_key=key).update(is_default=True)


def test_switching_changes_the_active_space_of_this_key_only():
    one, two = make_space("one"), make_space("two")
    person = make_person()
    first, second = make_key(person, one, two), make_key(person, one, two)
    access = access_for_key(first.secret)
    assert access is not None
    assert set_active_space(access, "two").space(None).key == "two"
    for new, expected in ((first, "two"), (second, "one")):
        read = access_for_key(new.secret)
        assert read is not None
        assert read.space(None).key == expected


@pytest.mark.django_db(transaction=True)
def test_switching_at_once_leaves_one_active_space():
    spaces = [make_space(f"s{number}") for number in range(4)]
    new = make_key(make_person(), *spaces)
    access = access_for_key(new.secret)
    assert access is not None
    failures: list[Exception] = []

    def switch(number: int) -> None:
        try:
            for turn in range(6):
                set_active_space(access, f"s{(number + turn) % 4}")
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=switch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert SpaceGrant.objects.filter(api_key=new.key, is_default=True).count() == 1
