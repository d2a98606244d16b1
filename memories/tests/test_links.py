"""Links between notes and facts: made, noted anew, taken back, walked."""

import pytest

from core.errors import AccessDenied, Invalid, NotFound
from memories.models import Edge, Memory
from memories.notes import list_notes, read_note
from memories.queries import get_memory
from memories.services.links import get_related, link_notes, unlink_notes
from memories.services.notes import delete_note
from memories.tests.factories import make_access, make_space, remember
from memories.tests.notes import write
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db


@pytest.fixture
def access():
    return make_access()


def test_both_ends_tell_of_a_link(access):
    first, second = write(access, "First"), write(access, "Second", topic="other")
    link_notes(access, first.id, second.id, "Follow_Up_Of", note="next step")
    (there,) = get_related(access, first.id)
    (back,) = get_related(access, second.id)
    assert (there.id, there.title, there.topic, there.outgoing, there.note) == (
        second.id, "Second", "other", True, "next step",
    )  # fmt: skip
    assert (back.id, back.relation.link_name, back.outgoing) == (first.id, "follow_up_of", False)


def test_linked_again_the_note_is_replaced_even_by_none(access):
    first, second = write(access, "First"), write(access, "Second")
    link_notes(access, first.id, second.id, "mentions", note="here")
    again = link_notes(access, first.id, second.id, "mentions")
    assert not again.is_new
    assert Edge.objects.get().note is None


def test_what_is_superseded_is_outdated_and_still_found(access):
    new, old = write(access, "New"), write(access, "Old")
    assert link_notes(access, new.id, old.id, "supersedes").outdated
    assert read_note(access, old.id).status == "outdated"
    assert [note.id for note in list_notes(access, project=None).items] == [new.id]
    link_notes(access, new.id, old.id, "supersedes")
    assert read_note(access, old.id).version == 2


def test_a_fact_that_a_note_supersedes_is_forgotten(access):
    note, fact = write(access, "Hours"), remember(access, "The office closes at six.")
    link_notes(access, note.id, fact.id, "supersedes")
    row = get_memory(access, fact.id)
    assert not row.is_active
    assert row.superseded_by_id == note.id
    assert [related.is_note for related in get_related(access, note.id)] == [False]


@pytest.mark.parametrize("kind", ["note", "fact"])
def test_unlinking_leaves_it_outdated_unless_asked_otherwise(access, kind):
    new = write(access, "New")
    old = write(access, "Old") if kind == "note" else remember(access, "Old fact.")
    link_notes(access, new.id, old.id, "supersedes")
    left = unlink_notes(access, new.id, old.id, "supersedes")
    assert left.unlinked
    assert left.can_reactivate
    link_notes(access, new.id, old.id, "supersedes")
    back = unlink_notes(access, new.id, old.id, "supersedes", reactivate=True)
    assert back.reactivated
    row = Memory.objects.get(id=old.id)
    assert row.is_active
    assert row.status == "current"


def test_unlinking_what_is_not_there_is_no_error(access):
    first, second = write(access, "First"), write(access, "Second")
    link_notes(access, first.id, second.id, "causes")
    assert not unlink_notes(access, second.id, first.id, "causes").unlinked
    assert not unlink_notes(access, first.id, second.id, "nonsense").unlinked
    assert unlink_notes(access, first.id, second.id, "causes").unlinked
    assert not unlink_notes(access, first.id, second.id, "causes").unlinked
    with pytest.raises(Invalid):
        unlink_notes(access, "x", second.id, "causes")


def test_links_that_cannot_be_are_refused(access):
    first, second = write(access, "First"), write(access, "Second")
    with pytest.raises(Invalid, match="from_entry_id"):
        link_notes(access, "x", second.id, "fixes")
    with pytest.raises(Invalid, match="related_to, same_as"):
        link_notes(access, first.id, second.id, "likes")
    with pytest.raises(Invalid, match="itself"):
        link_notes(access, first.id, first.id, "fixes")
    stranger = make_access()
    with pytest.raises(NotFound):
        link_notes(access, first.id, write(stranger, "Theirs").id, "fixes")
    with pytest.raises(NotFound):
        get_related(stranger, first.id)
    assert not unlink_notes(stranger, first.id, second.id, "fixes").unlinked


def test_links_stay_within_a_project():
    one, two = make_space(), make_space()
    both = make_access(one, two)
    first = write(both, "First")
    second = write(make_access(two), "Second")
    with pytest.raises(Invalid, match="one project"):
        link_notes(both, first.id, second.id, "fixes")


def test_readers_do_not_link():
    space = make_space()
    writer, reader = make_access(space), make_access(space, level=AccessLevel.READ)
    first, second = write(writer, "First"), write(writer, "Second")
    with pytest.raises(AccessDenied):
        link_notes(reader, first.id, second.id, "fixes")
    assert len(get_related(reader, first.id)) == 0


def test_a_deleted_note_is_in_no_list_of_links(access):
    first, second = write(access, "First"), write(access, "Second")
    link_notes(access, first.id, second.id, "fixes")
    delete_note(access, second.id)
    assert get_related(access, first.id) == []
    with pytest.raises(NotFound):
        get_related(access, second.id)
    with pytest.raises(NotFound):
        link_notes(access, first.id, second.id, "causes")
