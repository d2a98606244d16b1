"""What the first matches are linked to: two hops, both directions, never mixed."""

import pytest

from memories.models import Edge, RelationType
from memories.search import related
from memories.search.service import search
from memories.services.forget import forget_by_id
from memories.tests.factories import link, make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("without_embeddings")]


def links(access, keyword="root"):
    (match,) = search(access, keyword=keyword).matches
    return {
        (r.memory.text, r.relation_type.wire, r.hops, "Outgoing" if r.outgoing else "Incoming", r.note)
        for r in match.related
    }


def make(access, *names):
    return [remember(access, name) for name in names]


def test_two_hops_in_both_directions_and_notes_of_direct_links_only():
    access = make_access()
    root, one, two, three, before = make(access, "root", "one", "two", "three", "before")
    link(root, one, RelationType.UPDATES, note="newer")
    link(one, two, RelationType.DERIVES, note="not shown")
    link(two, three)
    link(before, root, RelationType.EXTENDS)
    assert links(access) == {
        ("one", "Updates", 1, "Outgoing", "newer"),
        ("two", "Derives", 2, "Outgoing", None),
        ("before", "Extends", 1, "Incoming", None),
    }


def test_a_walk_never_turns_round():
    access = make_access()
    root, hub, sibling = make(access, "root", "hub", "sibling")
    link(root, hub)
    link(sibling, hub)
    assert {text for text, *_ in links(access)} == {"hub"}


def test_circles_end():
    access = make_access()
    root, one = make(access, "root", "one")
    link(root, one)
    link(one, root)
    assert links(access) == {
        ("one", "Extends", 1, "Outgoing", None),
        ("one", "Extends", 1, "Incoming", None),
    }


def test_two_ways_to_a_memory_count_once_with_the_shorter_one_and_types_apart():
    access = make_access()
    root, one, two = make(access, "root", "one", "two")
    link(root, one)
    link(one, two)
    link(root, two)
    link(root, two, RelationType.UPDATES)
    assert {(text, relation, hops) for text, relation, hops, *_ in links(access)} == {
        ("one", "Extends", 1),
        ("two", "Extends", 1),
        ("two", "Updates", 1),
    }


def test_forgotten_memories_are_shown_as_such():
    access = make_access()
    root, old = make(access, "root", "old")
    link(root, old, RelationType.UPDATES)
    forget_by_id(access, old.id)
    (match,) = search(access, keyword="root").matches
    assert [(r.memory.text, r.memory.is_active) for r in match.related] == [("old", False)]


def test_only_the_first_three_matches_are_enriched():
    access = make_access()
    target = remember(access, "target")
    for number in range(5):
        link(remember(access, f"root {number}"), target)
    matches = search(access, keyword="root").matches
    assert [len(match.related) for match in matches] == [1, 1, 1, 0, 0]


def test_fan_out_is_bounded(monkeypatch):
    monkeypatch.setattr(related, "MAXIMUM_FAN_OUT", 3)
    access = make_access()
    root = remember(access, "root")
    for number in range(6):
        link(root, remember(access, f"leaf {number}"))
    assert {text for text, *_ in links(access)} == {"leaf 3", "leaf 4", "leaf 5"}


def test_an_edge_of_another_space_is_not_walked():
    access, other = make_access(), make_access()
    root, one = make(access, "root", "one")
    link(root, remember(access, "two"))
    Edge.objects.create(
        space_id=other.space(None).id, from_memory=root, to_memory=one, relation_type=RelationType.UPDATES
    )
    assert {text for text, *_ in links(access)} == {"two"}
