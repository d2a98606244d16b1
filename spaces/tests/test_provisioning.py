from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import ApiKey, Role
from core.errors import Conflict, Invalid, NotFound
from memories.tests.factories import make_key, make_person, make_space
from spaces.access import access_for_key, member_levels
from spaces.models import AccessLevel, Space, SpaceGrant
from spaces.services.granting import RequestedTarget, find_targets
from spaces.services.provisioning import (
    RequestedGrant,
    create_api_key,
    create_space,
    get_space,
    grant_space,
    parse_level,
    save_grants,
    split_level,
)

pytestmark = pytest.mark.django_db


def default_of(key: ApiKey) -> str | None:
    grant = SpaceGrant.objects.filter(api_key=key, is_default=True).select_related("space").first()
    return grant.space.key if grant else None


@pytest.mark.parametrize("wrong", ["a b", "a/b", "-a", "a-", ".", "..", "a..b", "a:b", "", "  ", "x" * 101, None, 7])
def test_a_bad_space_key_is_told(wrong):
    with pytest.raises(Invalid):
        create_space(key=wrong)
    assert not Space.objects.exists()


@pytest.mark.parametrize("key", ["a", "team-notes", "v1.2_x", "Größe", "数学", "x" * 100])
def test_space_keys_may_be_of_any_script(key):
    assert create_space(key=f" {key} ").name == key


def test_space_keys_differ_by_case_and_are_taken_once():
    create_space(key="team")
    create_space(key="Team")
    with pytest.raises(Conflict, match="exists already"):
        create_space(key="team")


def test_an_unknown_language_lists_the_known():
    with pytest.raises(Invalid, match="english"):
        create_space(key="a", language="klingon")


def test_an_unknown_space_lists_the_existing():
    make_space("one")
    with pytest.raises(NotFound, match="existing spaces: one"):
        get_space("two")


def test_levels_are_read_in_any_case_after_the_last_colon():
    assert [parse_level(text) for text in ("read", " READWRITE ")] == [AccessLevel.READ, AccessLevel.READ_WRITE]
    assert split_level("team") == ("team", AccessLevel.READ_WRITE)
    assert split_level("team:Read") == ("team", AccessLevel.READ)
    assert split_level("a:b:read") == ("a:b", AccessLevel.READ)
    with pytest.raises(Invalid, match="Read or ReadWrite"):
        split_level("team:Write")


def test_a_key_reaches_its_spaces_and_the_first_or_the_named_is_active():
    one, two = make_space("one"), make_space("two")
    grants = [RequestedGrant(one), RequestedGrant(two, AccessLevel.READ)]
    assert default_of(create_api_key(make_person(), grants=grants).key) == "one"
    assert default_of(create_api_key(make_person(), grants=grants, default=two).key) == "two"


def test_a_grant_makes_its_person_a_member_at_that_level_only():
    reader, space = make_person(role=Role.READER), make_space()
    (result,) = create_api_key(reader, grants=[RequestedGrant(space)]).grants
    assert (result.became_member, result.granted.wire, result.effective.wire) == (True, "ReadWrite", "Read")
    (again,) = create_api_key(reader, grants=[RequestedGrant(space, AccessLevel.READ)]).grants
    assert not again.became_member
    assert member_levels(reader) == {space.id: AccessLevel.READ_WRITE}


def test_an_expiry_lies_ahead_and_can_be_read_back():
    person = make_person()
    now = timezone.now()
    for wrong in (now - timedelta(seconds=1), now, now.replace(year=9999)):
        with pytest.raises(Invalid, match="future, within a hundred years"):
            create_api_key(person, expires_at=wrong)
    new = create_api_key(person, expires_at=now + timedelta(days=365 * 50))
    assert access_for_key(new.secret) is not None


def test_a_failing_key_leaves_no_membership():
    person, one, two = make_person(), make_space(), make_space()
    with pytest.raises(Invalid):
        create_api_key(person, grants=[RequestedGrant(one)], default=two)
    assert member_levels(person) == {}
    assert not ApiKey.objects.exists()


def test_granting_a_space_again_keeps_the_level_and_the_active_space():
    space = make_space("one")
    key = make_key(make_person(), space, level=AccessLevel.READ).key
    result = grant_space(key, space, AccessLevel.READ_WRITE)
    assert (result.existed, result.granted, default_of(key)) == (True, AccessLevel.READ, "one")


def test_one_key_at_two_levels_and_one_target_twice_are_refused():
    person = make_person()
    key = make_key(person).key
    with pytest.raises(Conflict, match="two levels"):
        find_targets([RequestedTarget(person.email), RequestedTarget(str(key.id), AccessLevel.READ)])
    with pytest.raises(Invalid, match="named twice"):
        find_targets([RequestedTarget(person.email), RequestedTarget(person.email.upper(), AccessLevel.READ)])
    assert find_targets([RequestedTarget(person.email), RequestedTarget(str(key.id))]) == [
        (key, AccessLevel.READ_WRITE)
    ]


def test_a_person_without_keys_is_told_apart_from_an_unknown_one():
    with pytest.raises(NotFound, match="has no keys"):
        find_targets([RequestedTarget(make_person().email)])
    with pytest.raises(NotFound, match="no person"):
        find_targets([RequestedTarget("nobody@example.org")])


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("grant"), st.integers(0, 3), st.booleans()),
        st.tuples(st.just("save"), st.sets(st.integers(0, 3)), st.integers(0, 3)),
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_STEPS)
def test_a_key_with_spaces_always_has_exactly_one_active_space(steps):
    spaces = [make_space() for _ in range(4)]
    key = make_key(make_person()).key
    for verb, what, default in steps:
        if verb == "grant":
            grant_space(key, spaces[what], AccessLevel.READ, make_default=default)
        else:
            save_grants(key, [RequestedGrant(spaces[n], is_default=n == default) for n in sorted(what)])
        rows = SpaceGrant.objects.filter(api_key=key)
        assert rows.filter(is_default=True).count() == min(1, rows.count())


def test_saving_grants_withdraws_what_is_not_asked_for():
    one, two = make_space("one"), make_space("two")
    new = make_key(make_person(), one)
    save_grants(new.key, [RequestedGrant(two, AccessLevel.READ)])
    access = access_for_key(new.secret)
    assert [(space.key, space.level.wire, space.is_default) for space in access.spaces] == [("two", "Read", True)]
