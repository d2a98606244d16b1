"""The commands: what they make, what they print, and one sentence with exit code 1 for every mistake."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import ApiKey, User
from memories.models import Memory
from spaces.access import access_for_key
from spaces.models import Space, SpaceGrant

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def data(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    assert caught.value.returncode == 1
    return str(caught.value)


@pytest.fixture
def ada() -> None:
    data("create_user", "--email", "ada@example.org", "--name", "Ada")
    data("create_space", "--key", "one")
    data("create_space", "--key", "two")


def key_for_ada(*spaces: str, **options: str) -> dict[str, Any]:
    extra = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    named = [part for space in spaces for part in ("--space", space)]
    return dict(data("create_api_key", "--email", "ADA@example.org", *named, *extra))


def active_space(key: str) -> str | None:
    access = access_for_key(key)
    assert access is not None
    return access.default_space.key if access.default_space else None


def test_a_person_has_defaults_and_one_address():
    made = data("create_user", "--email", " New@Example.ORG ")
    assert (made["email"], made["displayName"], made["role"]) == ("new@example.org", "new@example.org", "Writer")
    assert "exists already" in refused("create_user", "--email", "NEW@example.org")
    assert "must be Writer or Reader" in refused("create_user", "--email", "b@example.org", "--role", "Boss")
    assert data("create_user", "--email", "c@example.org", "--role", "reader")["role"] == "Reader"
    assert "e-mail address" in refused("create_user", "--email", "nobody")


def test_a_key_reaches_what_it_was_given_and_is_printed_once(ada):
    made = key_for_ada("one:read", "two", label="laptop")
    assert [(space["key"], space["effective"], space["isDefault"]) for space in made["spaces"]] == [
        ("one", "Read", True),
        ("two", "ReadWrite", False),
    ]
    assert access_for_key(made["key"]) is not None
    assert ApiKey.objects.get().key_hash != made["key"]
    assert active_space(key_for_ada("one", "two", default_space="two")["key"]) == "two"


def test_a_key_without_spaces_authenticates_and_reaches_nothing(ada):
    made = key_for_ada()
    access = access_for_key(made["key"])
    assert access is not None
    assert access.spaces == ()


def test_mistakes_in_a_key_are_told_and_leave_no_key(ada):
    base = ("create_api_key", "--email", "ada@example.org")
    assert "existing spaces: one, two" in refused(*base, "--space", "nowhere")
    assert "must be one of the granted" in refused(*base, "--space", "one", "--default-space", "two")
    assert "only once" in refused(*base, "--space", "one", "--space", "one:Read")
    assert "Read or ReadWrite" in refused(*base, "--space", "one:Write")
    assert "future" in refused(*base, "--expires", "2020-01-01")
    assert "--expires must be" in refused(*base, "--expires", "soon")
    assert "no person" in refused("create_api_key", "--email", "nobody@example.org")
    assert not ApiKey.objects.exists()


def test_a_space_is_granted_to_a_person_a_key_or_a_prefix(ada):
    first, second = key_for_ada("one"), key_for_ada("one")
    made = data("create_space", "--key", "three", "--name", "Three", "--grant", "ada@example.org:Read")
    assert [grant["effective"] for grant in made["grants"]] == ["Read", "Read"]
    made = data("create_space", "--key", "four", "--grant", first["keyId"])
    assert len(made["grants"]) == 1
    made = data("create_space", "--key", "five", "--grant", second["key"][:12])
    assert made["grants"][0]["keyId"] == second["keyId"]


def test_nothing_is_written_when_one_target_is_unknown(ada):
    made = key_for_ada("one")
    assert "No key has" in refused("create_space", "--key", "new", "--grant", made["keyId"], "--grant", "mmcp_nothing")
    assert "two levels" in refused(
        "create_space", "--key", "new", "--grant", f"{made['keyId']}:Read", "--grant", "ada@example.org"
    )
    assert not Space.objects.filter(key="new").exists()


def test_an_existing_space_needs_to_be_allowed_and_keeps_levels_and_the_active_space(ada):
    made = key_for_ada("one:Read")
    assert "exists already" in refused("create_space", "--key", "one", "--grant", made["keyId"])
    again = data("create_space", "--key", "one", "--allow-existing", "--grant", made["keyId"])
    assert (again["created"], again["grants"][0]["existed"], again["grants"][0]["granted"]) == (False, True, "Read")
    assert active_space(made["key"]) == "one"


def test_a_new_space_becomes_active_when_asked_or_when_there_is_none(ada):
    with_space, without = key_for_ada("one"), key_for_ada()
    data("create_space", "--key", "three", "--grant", with_space["keyId"], "--grant", without["keyId"])
    assert (active_space(with_space["key"]), active_space(without["key"])) == ("one", "three")
    data("create_space", "--key", "four", "--grant", with_space["keyId"], "--make-default")
    assert active_space(with_space["key"]) == "four"
    assert SpaceGrant.objects.filter(api_key_id=with_space["keyId"], is_default=True).count() == 1


def test_revoking_takes_an_id_a_prefix_or_the_key_and_only_one(ada):
    first, second, third = key_for_ada("one"), key_for_ada("one"), key_for_ada("one")
    assert data("revoke_key", "--key", first["keyId"])["changed"] is True
    assert access_for_key(first["key"]) is None
    assert access_for_key(second["key"]) is not None
    data("revoke_key", "--key", second["key"][:12])
    assert data("revoke_key", "--key", second["key"][:12])["changed"] is False
    data("revoke_key", "--key", third["key"])
    assert access_for_key(third["key"]) is None
    assert "No key has" in refused("revoke_key", "--key", "mmcp_0000000")
    assert "No key has" in refused("revoke_key", "--key", "1b4e28ba-2fa1-41d2-883f-0016d3cca427")


def test_an_ambiguous_prefix_revokes_nothing(ada):
    made = [key_for_ada("one"), key_for_ada("one")]
    said = refused("revoke_key", "--key", "mmcp_")
    assert all(key["keyId"] in said for key in made)
    assert all(access_for_key(key["key"]) for key in made)


def test_deactivating_stops_all_keys_and_reactivating_restores_the_unrevoked(ada):
    first, second = key_for_ada("one"), key_for_ada("one")
    data("revoke_key", "--key", second["keyId"])
    assert data("deactivate_user", "--email", "ADA@EXAMPLE.ORG")["active"] is False
    assert access_for_key(first["key"]) is None
    assert data("deactivate_user", "--email", "ada@example.org")["changed"] is False
    assert data("deactivate_user", "--email", "ada@example.org", "--reactivate")["active"] is True
    assert access_for_key(first["key"]) is not None
    assert access_for_key(second["key"]) is None
    assert "no person" in refused("deactivate_user", "--email", "nobody@example.org")


def test_the_seed_can_be_run_again():
    first = data("seed")
    writer, reader = first["keys"]
    assert {space.key: space.level.wire for space in access_for_key(writer["key"]).spaces} == {
        "default": "ReadWrite",
        "team": "ReadWrite",
    }
    assert active_space(writer["key"]) == "default"
    assert {space.key: space.level.wire for space in access_for_key(reader["key"]).spaces} == {"team": "Read"}
    assert SpaceGrant.objects.get(api_key_id=reader["keyId"]).access_level == 1
    assert [key["key"] for key in data("seed")["keys"]] == [None, None]
    assert access_for_key(writer["key"]) is not None
    fresh = data("seed", "--new-keys")["keys"]
    assert access_for_key(writer["key"]) is None
    assert access_for_key(fresh[0]["key"]) is not None
    assert User.objects.count() == 2


def test_the_demo_is_made_once_and_only_where_nobody_is():
    made = data("demo")
    administrator = User.objects.get(email=made["administrator"]["email"])
    assert administrator.is_superuser
    assert administrator.check_password(made["administrator"]["password"])
    assert Memory.objects.count() > 3
    assert data("demo") == {"created": False}


def test_people_read_what_happened(ada):
    made = key_for_ada("one")
    assert "shown only this once" in run("create_api_key", "--email", "ada@example.org", "--space", "two")
    assert "Created space" in run("create_space", "--key", "seven")
    assert "Revoked" in run("revoke_key", "--key", made["keyId"])
    assert "inactive from the next request on" in run("deactivate_user", "--email", "ada@example.org")
    assert "shown only this once" in run("seed")
