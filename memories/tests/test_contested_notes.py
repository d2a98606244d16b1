"""Contested pairs in which a note takes part: outdated where a fact would be forgotten."""

import pytest

from core.errors import Conflict
from memories.contested import list_contested
from memories.models import Memory, RelationType
from memories.note_models import NoteStatus
from memories.notes import read_note
from memories.queries import get_memory
from memories.services.contested import reopen_contested, resolve_contested
from memories.services.forget import forget_by_id
from memories.services.links import link_notes
from memories.services.restore import restore_memory
from memories.tests.factories import link, make_access, make_person, make_space, remember
from memories.tests.notes import write

pytestmark = pytest.mark.django_db


@pytest.fixture
def space():
    return make_space()


@pytest.fixture
def access(space):
    return make_access(space, person=make_person("Ada"))


@pytest.fixture
def pair(access, space):
    note = write(access, "Opening hours", "The office closes at six.")
    fact = remember(make_access(space, person=make_person("Bob")), "The office closes at seven.")
    return link(fact, Memory.objects.get(id=note.id), RelationType.UPDATES)


def status(access, edge) -> str:
    return read_note(access, edge.to_memory_id).status


def test_superseding_a_note_makes_it_outdated_and_taking_that_back_current(access, pair):
    resolve_contested(access, pair.id, decision="supersede", reason="The sign says seven.")
    assert status(access, pair) == NoteStatus.OUTDATED
    assert get_memory(access, pair.to_memory_id).is_active
    assert list_contested(access).items == []
    reopen_contested(access, pair.id)
    assert status(access, pair) == NoteStatus.CURRENT
    assert len(list_contested(access).items) == 1


def test_a_note_can_be_forgotten_and_comes_back(access, pair):
    resolve_contested(access, pair.id, decision="forget", memory_id=pair.to_memory_id, reason="Wrong place.")
    assert not get_memory(access, pair.to_memory_id).is_active
    restore_memory(access, pair.to_memory_id)
    assert status(access, pair) == NoteStatus.CURRENT
    assert len(list_contested(access).items) == 1


def test_what_people_link_as_superseded_is_not_contested(access):
    old, new = write(access, "Old"), write(access, "New")
    link_notes(access, new.id, old.id, "supersedes")
    assert list_contested(access).items == []


def test_an_outdated_note_is_refused_with_who_did_it(access, space, pair):
    newer = write(make_access(space, person=make_person("Cleo")), "New hours")
    link_notes(make_access(space, person=make_person("Cleo")), newer.id, pair.to_memory_id, "supersedes")
    with pytest.raises(Conflict, match="outdated already, by Cleo"):
        resolve_contested(access, pair.id, decision="supersede", reason="Late.")


def test_a_forgotten_note_whose_place_is_taken_is_named(access):
    note = write(access, "Hours")
    forget_by_id(access, note.id)
    write(access, "Hours", "Again.")
    with pytest.raises(Conflict, match="title and the topic"):
        restore_memory(access, note.id)
