"""The graph of a space page by page, and what one memory is linked to."""

import itertools

import pytest

from core.errors import Invalid, NotFound
from memories.graph import recent_graph, related_memories, space_graph
from memories.models import Edge, RelationType
from memories.search import related
from memories.services.forget import forget_by_id
from memories.tests.factories import link, make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("without_embeddings")]


@pytest.fixture
def without_embeddings(settings):
    settings.EMBEDDINGS_PROVIDER = "none"


def make(access, *names):
    return [remember(access, name) for name in names]


def texts(graph) -> list[str]:
    return [memory.text for memory in graph.memories]


def edges(graph) -> set[tuple[str, str]]:
    named = {memory.id: memory.text for memory in graph.memories}
    return {(named[edge.from_memory_id], named[edge.to_memory_id]) for edge in graph.edges}


def walk(access, memory, **options) -> list[tuple[str, str, int, bool]]:
    page = related_memories(access, memory.id, **options)
    return [(r.memory.text, r.relation_type.wire, r.hops, r.outgoing) for r in page.items]


def test_one_page_is_what_the_resource_shows():
    access = make_access()
    one, two, three = make(access, "one", "two", "three")
    link(two, one)
    link(three, two, RelationType.UPDATES)
    forget_by_id(access, two.id)
    for graph in (recent_graph(access.space(None)), space_graph(access, None, depth=0), space_graph(access, None)):
        assert texts(graph) == ["three", "two", "one"]
        assert edges(graph) == {("two", "one"), ("three", "two")}
        assert graph.next_cursor is None


def test_pages_show_every_memory_and_with_what_they_lead_to_every_edge():
    access = make_access()
    chain = make(access, *map(str, range(7)))
    for older, newer in itertools.pairwise(chain):
        link(newer, older)
    link(chain[0], chain[6], RelationType.DERIVES)
    seen: set[tuple[str, str]] = set()
    names: set[str] = set()
    cursor, pages = None, 0
    while pages == 0 or cursor:
        graph = space_graph(access, None, limit=2, cursor=cursor)
        seen |= edges(graph)
        names |= set(texts(graph)[:2])
        cursor, pages = graph.next_cursor, pages + 1
    assert pages == 4
    assert names == set("0123456")
    assert len(seen) == Edge.objects.count() == 7


def test_depth_brings_neighbours_along():
    access = make_access()
    one, two, three, four = make(access, "one", "two", "three", "four")
    for newer, older in ((two, one), (three, two), (four, three)):
        link(newer, older)
    assert texts(space_graph(access, None, limit=1, depth=0)) == ["four"]
    assert texts(space_graph(access, None, limit=1, depth=1)) == ["four", "three"]
    assert texts(space_graph(access, None, limit=1, depth=2)) == ["four", "three", "two"]


def test_other_types_do_not_exist_for_a_narrowed_graph():
    access = make_access()
    root, extended, updated, beyond = make(access, "root", "extended", "updated", "beyond")
    link(root, extended)
    link(root, updated, RelationType.UPDATES)
    link(extended, beyond, RelationType.UPDATES)
    assert edges(space_graph(access, None, types="Updates")) == {("root", "updated"), ("extended", "beyond")}
    assert walk(access, root, types="updates") == [("updated", "Updates", 1, True)]
    assert {text for text, *_ in walk(access, root, types=" Updates , EXTENDS")} == {"extended", "updated", "beyond"}
    assert len(walk(access, root, types=" ")) == 3


def test_depth_one_is_direct_links_of_both_directions():
    access = make_access()
    root, after, beyond, before = make(access, "root", "after", "beyond", "before")
    link(root, after)
    link(after, beyond)
    link(before, root, RelationType.DERIVES)
    assert walk(access, root, depth=1) == [("after", "Extends", 1, True), ("before", "Derives", 1, False)]
    assert walk(access, root) == [*walk(access, root, depth=1), ("beyond", "Extends", 2, True)]


def test_a_cursor_walks_through_all_links_once_in_one_order(monkeypatch):
    monkeypatch.setattr(related, "MAXIMUM_FAN_OUT", 3)
    access = make_access()
    root = remember(access, "root")
    for number in range(9):
        leaf = remember(access, f"leaf {number}")
        link(root, leaf)
        link(leaf, root, RelationType.UPDATES)
    whole = walk(access, root, limit=50)
    # More than one step follows: the list of a memory reaches all its direct links, and 200 of a hub's.
    assert len(whole) == 18
    found, cursor = [], None
    while True:
        page = related_memories(access, root.id, limit=4, cursor=cursor)
        found += [(r.memory.text, r.relation_type.wire, r.hops, r.outgoing) for r in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == whole


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 0},
        {"depth": 3},
        {"types": "Improves"},
        {"types": "Updates," * 200},
        {"cursor": "x"},
        {"cursor": "WyJhIiwiYiIsImMiLCJkIl0"},
    ],
)
def test_what_cannot_be_meant_is_refused(options):
    access = make_access()
    memory = remember(access, "root")
    with pytest.raises(Invalid):
        related_memories(access, memory.id, **options)
    if options != {"depth": 0}:
        with pytest.raises(Invalid):
            space_graph(access, None, **options)


def test_a_refused_type_names_those_that_are_known():
    with pytest.raises(Invalid, match="Updates, Extends, Derives"):
        space_graph(make_access(), None, types="Improves")


def test_nobody_else_sees_it():
    access = make_access("own")
    root, leaf = make(access, "root", "leaf")
    link(root, leaf)
    outsider = make_access("elsewhere")
    with pytest.raises(NotFound):
        related_memories(outsider, root.id)
    with pytest.raises(NotFound):
        space_graph(outsider, "own")


def test_the_number_of_queries_does_not_grow(django_assert_num_queries):
    access = make_access()
    for _ in range(2):
        one, two = make(access, *(f"{number} of {Edge.objects.count()}" for number in range(2)))
        link(one, two)
        with django_assert_num_queries(6):
            related_memories(access, one.id)
            space_graph(access, None)
