"""What is linked to what: the graph of a space, whole or page by page, and what one memory is linked to.

page = space_graph(access, "team", types="Updates,Extends")     # memories, their edges, the next cursor
linked = related_memories(access, memory_id, depth=1)
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import connection

from core.errors import Invalid
from core.paging import CursorPage, clamp_limit, decode_cursor, encode_cursor, keyset_page, not_a_cursor
from core.text import clean_text, excerpt
from memories.models import Edge, Memory, RelationType
from memories.queries import locate_memory
from memories.search.related import MAXIMUM_FAN_OUT, MAXIMUM_HOPS, Link, Walk, find_links
from memories.search.results import RelatedMemory
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound

# The window of the reference system.
WINDOW = 50
# Direct links of one memory in one direction, the newest first, that its list reaches.
MAXIMUM_DIRECT = 200
_ALL = 2 * MAXIMUM_DIRECT * (1 + MAXIMUM_FAN_OUT)
# Memories beside those of a page that come with it, the nearest first.
MAXIMUM_BESIDE = 200
_LONGEST_LIST = 500


@dataclass(frozen=True)
class Graph:
    """Memories of any status, and the edges that have both their ends among them."""

    memories: Sequence[Memory]
    edges: Sequence[Edge]
    next_cursor: str | None = None


def recent_graph(space: SpaceAccess) -> Graph:
    """The newest memories of a space with their edges. Two queries."""
    with bound(space):
        memories = list(Memory.objects.in_space(space).newest_first()[:WINDOW])
        return Graph(memories=memories, edges=_edges_among(space, [memory.id for memory in memories], None))


def space_graph(
    access: AccessContext,
    tag: str | None,
    *,
    depth: int = 1,
    types: str | None = None,
    cursor: str | None = None,
    limit: int = WINDOW,
) -> Graph:
    """A page of a space's memories, newest first, with what they are linked to over `depth` edges (0 to 2).

    With a depth of 1 or more an edge between two pages comes with the first of them. `types` names the relations to
    follow and to show, with commas between them; all others do not exist then. Four queries. Raises `NotFound` for the
    space and `Invalid` for the rest.
    """
    space = access.space(tag)
    if not 0 <= depth <= MAXIMUM_HOPS:
        raise Invalid(f"depth must be between 0 and {MAXIMUM_HOPS}.")
    relations = relation_types(types)
    with bound(space):
        page = keyset_page(Memory.objects.in_space(space), moment="created_at", cursor=cursor, limit=limit)
        memories = [*page.items, *_beside(space, [memory.id for memory in page.items], depth, relations)]
        edges = _edges_among(space, [memory.id for memory in memories], relations)
    return Graph(memories=memories, edges=edges, next_cursor=page.next_cursor)


def related_memories(
    access: AccessContext,
    memory_id: object,
    *,
    depth: int = MAXIMUM_HOPS,
    types: str | None = None,
    cursor: str | None = None,
    limit: int = 0,
) -> CursorPage[RelatedMemory]:
    """What a memory is linked to over at most `depth` edges (1 or 2) of one direction, nearest first, forgotten too.

    Of its own edges the newest 200 in each direction are followed, of every other memory's the newest 25. `types` names
    the relations to follow, with commas between them. Three queries. Raises `NotFound` for the memory and `Invalid`
    for the rest.
    """
    if not 1 <= depth <= MAXIMUM_HOPS:
        raise Invalid(f"depth must be between 1 and {MAXIMUM_HOPS}.")
    walk = Walk(hops=depth, direct=MAXIMUM_DIRECT, most=_ALL, types=relation_types(types))
    after = _position(cursor)
    limit = clamp_limit(limit)
    memory, space = locate_memory(access, memory_id)
    with bound(space):
        with connection.cursor() as database:
            links = find_links(database, space, [memory.id], walk)
        following = [link for link in links if after is None or _place(link) > after]
        shown = following[:limit]
        memories = Memory.objects.in_space(space).in_bulk([link.node for link in shown])
    return CursorPage(
        items=[
            RelatedMemory(memories[link.node], link.relation_type, link.hops, link.outgoing, link.note)
            for link in shown
            if link.node in memories
        ],
        next_cursor=encode_cursor(*map(str, _place(shown[-1]))) if len(following) > limit else None,
    )


def relation_types(names: str | None) -> tuple[RelationType, ...] | None:
    """Relations by their names on the wire, separated by commas, in any case; None and blank mean all of them.

    Raises `Invalid` for a name that is none.
    """
    wanted = clean_text(names, "types", maximum=_LONGEST_LIST, required=False).split(",")
    named = [name.strip().lower() for name in wanted if name.strip()]
    known = {relation.wire.lower(): relation for relation in RelationType}
    for name in named:
        if name not in known:
            allowed = ", ".join(relation.wire for relation in RelationType)
            raise Invalid(
                f"types does not know “{excerpt(name, 60)}”; allowed are {allowed}, with commas between them."
            )
    return tuple(known[name] for name in dict.fromkeys(named)) or None


def _beside(
    space: SpaceAccess, roots: Sequence[uuid.UUID], depth: int, types: Sequence[RelationType] | None
) -> list[Memory]:
    if depth == 0 or not roots:
        return []
    with connection.cursor() as database:
        links = find_links(database, space, roots, Walk(hops=depth, types=types))
    nearest = sorted(links, key=lambda link: link.hops)
    fresh = list(dict.fromkeys(link.node for link in nearest if link.node not in set(roots)))[:MAXIMUM_BESIDE]
    found = Memory.objects.in_space(space).in_bulk(fresh)
    return [found[identifier] for identifier in fresh if identifier in found]


def _edges_among(space: SpaceAccess, ids: Iterable[uuid.UUID], types: Sequence[RelationType] | None) -> list[Edge]:
    ids = list(ids)
    rows = Edge.objects.in_space(space).filter(from_memory_id__in=ids, to_memory_id__in=ids)
    if types is not None:
        rows = rows.filter(relation_type__in=types)
    return list(rows.order_by("created_at", "id"))


_Place = tuple[int, int, str, int]


def _place(link: Link) -> _Place:
    """Where a link stands in the order of a walk."""
    return (link.hops, int(not link.outgoing), str(link.node), int(link.relation_type))


def _position(cursor: str | None) -> _Place | None:
    if not cursor:
        return None
    hops, direction, node, relation_type = decode_cursor(cursor, 4)
    try:
        return (int(hops), int(direction), node, int(relation_type))
    except ValueError:
        raise not_a_cursor() from None
