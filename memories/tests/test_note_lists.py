"""Lists of notes and topics: descendants, tags, pages, and the number of queries."""

import pytest

from core.errors import Invalid, NotFound
from memories.notes import list_notes, list_topics, note_counts
from memories.services.notes import delete_note, update_note
from memories.tests.factories import make_access
from memories.tests.notes import write

pytestmark = pytest.mark.django_db


@pytest.fixture
def access():
    return make_access()


def titles(page):
    return [note.title for note in page.items]


def test_a_topic_holds_its_notes_and_those_below_it_last_changed_first(access):
    write(access, "Above", topic="a")
    below = write(access, "Below", topic="a/b")
    write(access, "Beside", topic="a-b")
    write(access, "Further", topic="a/b/c")
    update_note(access, below.id, text="Changed.")
    assert titles(list_notes(access, project=None, topic="a/b")) == ["Below", "Further"]
    assert titles(list_notes(access, project=None, topic="/A/")) == ["Below", "Further", "Above"]
    assert titles(list_notes(access, project=None, topic="")) == ["Below", "Further", "Beside", "Above"]
    with pytest.raises(NotFound, match="no topic"):
        list_notes(access, project=None, topic="a/x")
    with pytest.raises(Invalid):
        list_notes(access, project=None, topic="/")


def test_tags_are_alternatives(access):
    write(access, "One", tags=["a"])
    write(access, "Two", tags=["b", "c"])
    write(access, "Three", tags=["d"])
    assert titles(list_notes(access, project=None, tags=["A", " c "])) == ["Two", "One"]
    assert titles(list_notes(access, project=None, tags=[])) == ["Three", "Two", "One"]


def test_outdated_notes_are_listed_when_asked_for(access):
    write(access, "Old", status="outdated")
    write(access, "New")
    assert titles(list_notes(access, project=None)) == ["New"]
    assert titles(list_notes(access, project=None, status="veraltet")) == ["Old"]
    assert titles(list_notes(access, project=None, status=None)) == ["New", "Old"]


def test_pages_go_on_where_the_last_one_ended(access):
    for number in range(5):
        write(access, f"Note {number}")
    first = list_notes(access, project=None, limit=3)
    second = list_notes(access, project=None, limit=3, cursor=first.next_cursor)
    assert titles(first) + titles(second) == [f"Note {number}" for number in (4, 3, 2, 1, 0)]
    assert second.next_cursor is None


def test_a_list_takes_as_many_queries_for_one_note_as_for_many(access, django_assert_num_queries):
    for number in range(4):
        write(access, f"Note {number}", topic=f"a/{number}", tags=["x"], sources=[{"type": "mail", "ref": str(number)}])
    with django_assert_num_queries(4):
        list_notes(access, project=None, topic="a", tags=["x"])


def test_topics_tell_how_many_current_notes_they_hold(access, django_assert_num_queries):
    write(access, "One", topic="a")
    write(access, "Two", topic="a/b")
    write(access, "Old", topic="a/b", status="outdated")
    delete_note(access, write(access, "Gone", topic="a/b").id)
    write(access, "Three", topic="c")
    with django_assert_num_queries(1):
        topics = list_topics(access, project=None)
    assert [(t.path, t.name, t.depth, t.note_count, t.total_count) for t in topics] == [
        ("a", "A", 1, 1, 2), ("a/b", "B", 2, 1, 1), ("c", "C", 1, 1, 1),
    ]  # fmt: skip
    assert [t.path for t in list_topics(access, project=None, topic="a/b")] == ["a/b"]
    assert note_counts(access) == {access.space(None).id: 3}
