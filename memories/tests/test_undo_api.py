"""Undo over REST: a plan first, the deed when asked for."""

import pytest

from memories.models import Memory
from memories.tests.factories import make_key, make_person, make_space
from memories.tests.notes import write
from spaces.access import access_for_key
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def space():
    return make_space("team")


def new_key(space, level=AccessLevel.READ_WRITE):
    return make_key(make_person(), space, level=level).secret


def ask(client, key, **body):
    return client.post("/api/v1/spaces/team/undo", body, content_type="application/json", headers={"X-Api-Key": key})


def test_shown_first_and_done_when_asked_for(client, space):
    key = new_key(space)
    access = access_for_key(key)
    note = write(access, "Hours", "Six.")
    shown = ask(client, key, person=access.email).json()
    assert shown["applied"] is False
    assert [(memory["id"], memory["isRemoved"]) for memory in shown["memories"]] == [(str(note.id), True)]
    assert "-Six." in shown["memories"][0]["text"]
    assert Memory.objects.get().is_active
    done = ask(client, key, person=access.email, apply=True, reason="wrong").json()
    assert len(done["commit"]) == 40
    assert not Memory.objects.get().is_active


def test_mistakes_are_told(client, space):
    key = new_key(space)
    write(access_for_key(key), "Hours")
    assert ask(client, key).status_code in (400, 422)
    assert ask(client, key, person="nobody@example.org").status_code == 404
    assert ask(client, key, since="yesterday").status_code in (400, 422)
    reader = new_key(space, AccessLevel.READ)
    assert ask(client, reader, since="2020-01-01T00:00:00Z").status_code == 200
    assert ask(client, reader, since="2020-01-01T00:00:00Z", apply=True).status_code == 403


@pytest.mark.parametrize("value", ["\x00", "a\x00b", "\ud800", "x" * 100_000, " "])
@pytest.mark.parametrize("field", ["person", "keyLabel"])
def test_what_no_commit_can_be_named_by_is_told(client, space, field, value):
    key = new_key(space)
    write(access_for_key(key), "Hours")
    assert ask(client, key, **{field: value}).status_code in (404, 422)
