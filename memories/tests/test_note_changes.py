"""Notes by id: renamed, moved, marked, deleted, restored; stale edits are refused."""

import pytest

from core.errors import Conflict, Invalid, NotFound
from memories.models import Memory
from memories.notes import NoteConflict, check_sources, list_notes, list_open, note_history, note_version, read_note
from memories.services.links import get_related
from memories.services.notes import delete_note, restore_note, set_follow_up, set_status, update_note, upsert_note
from memories.services.restore import restore_memory
from memories.tests.factories import make_access, remember
from memories.tests.notes import write

pytestmark = pytest.mark.django_db


@pytest.fixture
def access():
    return make_access()


def test_renamed_and_moved_it_is_the_same_note(access):
    note = write(access, "Hours", status="veraltet")
    changed = update_note(access, note.id, title="Opening hours", topic="front desk/daily").note
    assert changed.id == note.id
    assert (changed.topic, changed.slug) == ("front-desk/daily", "opening-hours")
    assert changed.status == "outdated"
    assert [version.topic for version in note_history(access, note.id)] == ["front-desk/daily", "office"]


def test_a_taken_name_is_refused_and_nothing_changes(access):
    write(access, "Taken")
    note = write(access, "Hours")
    with pytest.raises(Conflict, match="already exists"):
        update_note(access, note.id, title="taken!")
    elsewhere = write(access, "Taken", topic="elsewhere")
    with pytest.raises(Conflict, match="already exists"):
        update_note(access, elsewhere.id, topic="office", text="changed")
    assert read_note(access, elsewhere.id).text == "Text."


def test_a_stale_edit_gets_both_texts_and_is_not_stored(access):
    note = write(access, "Hours", "Six.")
    update_note(access, note.id, text="Seven.", expected_version=1)
    with pytest.raises(NoteConflict) as conflict:
        update_note(access, note.id, text="Eight.", expected_version=1)
    assert conflict.value.current.text == "Seven."
    assert conflict.value.rejected_text == "Eight."
    with pytest.raises(NoteConflict):
        upsert_note(access, project=None, topic="office", title="Hours", text="Nine.", expected_version=0)
    assert read_note(access, note.id).text == "Seven."


def test_tags_are_replaced_or_left(access):
    note = write(access, "Hours", tags=["a", "b"])
    assert update_note(access, note.id, text="New.").note.tags == ("a", "b")
    assert update_note(access, note.id, tags=["B", "c"]).note.tags == ("b", "c")
    assert update_note(access, note.id, tags=[]).note.tags == ()
    with pytest.raises(Invalid):
        update_note(access, note.id, tags=["x" * 65])


def test_follow_up_and_status_in_either_language(access):
    note = write(access, "Hours")
    assert set_follow_up(access, note.id, "wartet").note.follow_up == "waiting"
    assert [found.id for found in list_open(access).items] == [note.id]
    assert set_follow_up(access, note.id, "none").note.follow_up is None
    assert list_open(access).items == []
    assert set_status(access, note.id, "Outdated").note.status == "outdated"
    assert set_status(access, note.id, "aktuell").note.status == "current"
    for wrong in ("done", "", "closed"):
        with pytest.raises(Invalid):
            set_follow_up(access, note.id, wrong)


def test_deleted_it_is_gone_from_everything_and_can_be_restored(access):
    note = write(access, "Hours", "Six.", follow_up="open", sources=[{"type": "mail", "ref": "1"}])
    assert delete_note(access, note.id) == note.id
    for gone in (read_note, note_history, get_related, delete_note):
        with pytest.raises(NotFound):
            gone(access, note.id)
    assert list_notes(access, project=None).items == []
    assert list_open(access).items == []
    assert check_sources(access, source_type="mail", refs=["1"]) == {"1": False}
    assert [found.id for found in list_notes(access, project=None, deleted=True).items] == [note.id]
    restored = restore_note(access, note.id).note
    assert restored.text == "Six."
    assert restored.sources
    assert check_sources(access, source_type="mail", refs=["1"]) == {"1": True}


def test_a_deleted_note_does_not_come_back_over_another_one(access):
    note = write(access, "Hours")
    delete_note(access, note.id)
    write(access, "Hours", "New.")
    with pytest.raises(Conflict, match="already exists"):
        restore_note(access, note.id)
    with pytest.raises(Conflict, match="Another note"):
        restore_memory(access, note.id)
    assert Memory.objects.filter(is_active=True).count() == 1


def test_an_older_version_becomes_the_newest(access):
    note = write(access, "Hours", "Six.")
    update_note(access, note.id, title="Opening hours", text="Seven.")
    restored = restore_note(access, note.id, version=1).note
    assert (restored.title, restored.text, restored.version) == ("Hours", "Six.", 3)
    assert note_version(access, note.id, 2).text == "Seven."
    with pytest.raises(NotFound, match="no version 9"):
        restore_note(access, note.id, version=9)


def test_a_source_moves_to_the_newest_note_and_that_is_told(access):
    first = write(access, "First", sources=[{"type": "mail", "ref": "1"}, {"type": "hero", "ref": "H-1"}])
    second = upsert_note(
        access, project=None, topic="office", title="Second", text="x", sources=[{"type": "mail", "ref": "1"}]
    )
    (moved,) = second.repointed
    assert (str(moved.source), moved.former_id, moved.former_title) == ("mail:1", first.id, "First")
    assert [str(source) for source in read_note(access, first.id).sources] == ["hero:H-1"]
    assert check_sources(access, source_type="mail", refs=["1", "2", "1"]) == {"1": True, "2": False}
    assert check_sources(access, source_type="mail", refs=[]) == {}


@pytest.mark.parametrize("sources", [[{"type": "mail"}], [{"type": "Mail !", "ref": "1"}], ["mail:1"], [{"ref": ""}]])
def test_a_source_without_type_or_ref_is_refused(access, sources):
    with pytest.raises(Invalid, match="source"):
        write(access, "First", sources=sources)
    assert not Memory.objects.exists()


def test_facts_are_no_notes(access):
    fact = remember(access, "The office closes at six.")
    with pytest.raises(NotFound):
        read_note(access, fact.id)
    with pytest.raises(NotFound):
        update_note(access, fact.id, text="x")
    with pytest.raises(Invalid, match="entry_id"):
        read_note(access, "not-an-id")
