"""Rows and the tree of the history say the same; where they do not, either can be brought to the other."""

import pytest

from history.queries import head, list_files, log
from history.services.commits import Author, commit
from memories.models import Edge, Memory, MemoryTag, SourceRef
from memories.notes import read_note
from memories.search.service import search
from memories.services.links import link_notes
from memories.services.notes import update_note
from memories.services.verify import check_rows, repair_history, repair_rows
from memories.tests.factories import make_access, remember
from memories.tests.notes import write
from spaces.isolation import bound
from spaces.models import Topic

pytestmark = pytest.mark.django_db


@pytest.fixture
def access():
    access = make_access()
    note = write(access, "Hours", "Six.", topic="Front Desk/daily", tags=["a"], sources=[{"type": "mail", "ref": "1"}])
    other = write(access, "Other", topic="other", follow_up="open")
    link_notes(access, note.id, other.id, "causes", note="why")
    remember(access, "The alarm code is 4711.", category="office")
    return access


def damage():
    MemoryTag.objects.all().delete()
    Edge.objects.all().delete()
    SourceRef.objects.all().delete()
    Topic.objects.filter(path="front-desk").update(name="Wrong")
    Memory.objects.filter(title="Hours").update(text="Smuggled past the services.")
    Memory.objects.filter(title__isnull=True).update(is_active=False)


def test_what_services_wrote_agrees(access, django_assert_max_num_queries):
    report = check_rows(access.space(None))
    assert report.is_well
    assert report.files == 3 + 3
    with django_assert_max_num_queries(14):
        check_rows(access.space(None))


def test_what_was_changed_past_the_services_is_told(access):
    damage()
    report = check_rows(access.space(None))
    assert sorted(report.different) == ["front-desk/.topic.yaml", "front-desk/daily/hours.md"]
    assert len(report.surplus) == 1


def test_the_history_can_follow_the_rows(access):
    damage()
    before = len(log(access.space(None).id))
    repair_history(access, access.space(None))
    assert check_rows(access.space(None)).is_well
    assert len(log(access.space(None).id)) == before + 1
    repair_history(access, access.space(None))
    assert len(log(access.space(None).id)) == before + 1


def test_the_rows_can_follow_the_history(access):
    note = Memory.objects.get(title="Hours")
    damage()
    before = head(access.space(None).id)
    repair_rows(access, access.space(None))
    assert check_rows(access.space(None)).is_well
    assert head(access.space(None).id) == before
    found = read_note(access, note.id)
    assert (found.text, found.tags, [str(source) for source in found.sources]) == ("Six.", ("a",), ["mail:1"])
    assert Edge.objects.get().note == "why"
    assert Topic.objects.get(path="front-desk").name == "Front Desk"
    assert search(access, keyword="alarm").matches
    assert update_note(access, note.id, text="Seven.").note.version == 2


def test_files_that_are_no_memories_are_told_and_removed(access):
    space = access.space(None)
    with bound(space):
        commit(
            space.id, {"odd.md": b"odd", "a/b.md": b"---\nid: x\n---\n"}, author=Author("x", "x"), message="odd",
            trailers={}, moment=Memory.objects.latest("created_at").created_at,
        )  # fmt: skip
    assert sorted(check_rows(space).unreadable) == ["a/b.md", "odd.md"]
    repair_history(access, space)
    assert "odd.md" not in list_files(space.id)
    assert check_rows(space).is_well
