"""Notes that say the same are found through their vectors, linked when asked for, and merged into one."""

import pytest

from core.errors import AccessDenied, Invalid, NotFound
from history.queries import log
from memories.models import Edge
from memories.notes import check_sources, read_note
from memories.services.links import get_related, link_notes
from memories.services.merge import merge_notes
from memories.services.notes import set_status
from memories.services.similar_notes import find_similar
from memories.tests.factories import make_access, make_space, remember
from memories.tests.notes import write
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db

TEXT = "The heat pump was delivered on Monday and installed by Tuesday evening."


@pytest.fixture
def access():
    return make_access()


@pytest.fixture
def doubles(access):
    return [write(access, "Heat pump delivery", TEXT), write(access, "Heat pump delivered", TEXT, topic="other")]


def test_near_duplicates_are_told_and_nothing_is_written(access, doubles):
    write(access, "Choir", "Rehearsals are on Thursday at the parish hall.")
    remember(access, TEXT)
    page = find_similar(access, project=None, threshold=0.95)
    (pair,) = page.pairs
    assert {pair.first.id, pair.second.id} == {note.id for note in doubles}
    assert pair.similarity >= 0.95
    assert not pair.linked
    assert not Edge.objects.exists()


def test_linked_pairs_outdated_notes_and_other_projects_are_left_out(access, doubles):
    first, second = doubles
    stranger = make_access()
    assert find_similar(stranger, project=None).pairs == []
    with pytest.raises(NotFound):
        find_similar(stranger, project=access.space(None).key)
    set_status(access, first.id, "outdated")
    assert find_similar(access, threshold=0.9).pairs == []
    set_status(access, first.id, "current")
    link_notes(access, second.id, first.id, "mentions")
    assert find_similar(access, threshold=0.9).pairs == []


def test_asked_to_link_each_pair_gets_one_link(access, doubles):
    (pair,) = find_similar(access, threshold=0.9, auto_link=True).pairs
    assert pair.linked
    edge = Edge.objects.get()
    assert edge.note == f"similarity {pair.similarity:.4f}"
    assert [related.relation.link_name for related in get_related(access, doubles[0].id)] == ["related_to"]
    assert find_similar(access, threshold=0.9, auto_link=True).pairs == []


def test_only_writers_link_and_thresholds_have_bounds(access, doubles):
    reader = make_access(make_space(), level=AccessLevel.READ)
    with pytest.raises(AccessDenied):
        find_similar(reader, project=reader.space(None).key, auto_link=True)
    for threshold in (0, 1.1, -1, float("nan")):
        with pytest.raises(Invalid):
            find_similar(access, threshold=threshold)


def test_a_few_notes_are_looked_at_in_each_call(access, doubles, monkeypatch):
    monkeypatch.setattr("memories.services.similar_notes.PROBES", 1)
    seen = []
    page = find_similar(access, project=access.space(None).key, threshold=0.9)
    while True:
        seen += [pair.similarity for pair in page.pairs]
        if page.next_cursor is None:
            break
        page = find_similar(access, project=access.space(None).key, threshold=0.9, cursor=page.next_cursor)
    assert len(seen) == 2
    with pytest.raises(Invalid, match="cursor"):
        find_similar(access, project=access.space(None).key, cursor="x")


def test_merged_one_note_says_it_all_and_the_other_is_superseded(access):
    keep = write(access, "Keep", "Kept.", tags=["a"])
    double = write(access, "Double", "Also.", tags=["b", "a"], sources=[{"type": "mail", "ref": "1"}])
    outside, fact = write(access, "Outside"), remember(access, "A fact.")
    link_notes(access, double.id, outside.id, "fixes", note="why")
    link_notes(access, fact.id, double.id, "mentions")
    link_notes(access, keep.id, double.id, "same_as")
    before = len(log(access.space(None).id))
    merged = merge_notes(access, keep.id, [double.id])
    assert merged.note.text == "Kept.\n\n## Double\n\nAlso."
    assert merged.note.tags == ("a", "b")
    assert [str(source) for source in merged.note.sources] == ["mail:1"]
    assert merged.moved_links == 2
    assert read_note(access, double.id).status == "outdated"
    assert {(r.id, r.relation.link_name, r.outgoing) for r in get_related(access, keep.id)} == {
        (outside.id, "fixes", True), (fact.id, "mentions", False), (double.id, "same_as", True),
        (double.id, "supersedes", True),
    }  # fmt: skip
    assert check_sources(access, source_type="mail", refs=["1"]) == {"1": True}
    assert len(log(access.space(None).id)) == before + 1


def test_a_merge_that_cannot_be_changes_nothing(access):
    keep = write(access, "Keep", "x" * 600_000)
    double = write(access, "Double", "y" * 600_000)
    with pytest.raises(Invalid, match="too long"):
        merge_notes(access, keep.id, [double.id])
    with pytest.raises(Invalid, match="itself"):
        merge_notes(access, keep.id, [keep.id])
    with pytest.raises(NotFound):
        merge_notes(access, keep.id, [remember(access, "A fact.").id])
    assert read_note(access, double.id).status == "current"
