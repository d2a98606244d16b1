"""Does what a memory is linked to cost the same in a large graph as in a small one, and beside a hub?

The walk that enriches the first three matches of a search, over 100,000 edges against one over 1,000 with as many edges
a memory; and the same from a memory that 30,000 edges lead to. The graph page by page and the list of contested pairs
are printed.

    bin/run python -m benchmarks.graph
"""

import random
import sys
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.common import milliseconds, quantiles, scratch_database, verdict

if TYPE_CHECKING:  # models can only be imported once the scratch database is there
    from spaces.access import AccessContext, SpaceAccess

LARGE, SMALL = 10_000, 100
# Half of them lead to the first memory, where each pair of memories and type of edge counts once: ten are left.
EDGES_A_MEMORY = 14
WALKS = 200
LIMIT_SIZE = 2.0
LIMIT_HUB = 4.0

_EDGES = """
INSERT INTO memories_edge (id, space_id, from_memory_id, to_memory_id, relation_type, created_at)
SELECT gen_random_uuid(), %(space)s, a, b, t, now() + n * interval '1 second'
FROM unnest(%(from)s::uuid[], %(to)s::uuid[], %(types)s::int[]) WITH ORDINALITY AS edge(a, b, t, n)
ON CONFLICT DO NOTHING
"""


def fill(space: "SpaceAccess", memories: int) -> list[uuid.UUID]:
    """A space whose memories have ten edges each, three of them to the first one; returns the ids."""
    from django.db import connection

    from core.database import as_owner
    from memories.models import Memory

    chance = random.Random(memories)
    with as_owner(), connection.cursor() as cursor:
        rows = [
            # A few are active, so that some of the edges that update are contested.
            Memory(space_id=space.id, text=f"memory {n}", content_hash=b"%d" % n, is_active=n % 1000 < 20)
            for n in range(memories)
        ]
        ids = [memory.id for memory in Memory.objects.bulk_create(rows)]
        ends = [(a, ids[0] if n % 2 else chance.choice(ids), n % 3) for a in ids for n in range(EDGES_A_MEMORY)]
        kept = [end for end in ends if end[0] != end[1]]
        columns = dict(zip(("from", "to", "types"), map(list, zip(*kept, strict=True)), strict=True))
        cursor.execute(_EDGES, {"space": space.id, **columns})
    with as_owner(), connection.cursor() as cursor:
        cursor.execute("ANALYZE memories_memory, memories_edge")
    return ids


def walks(space: "SpaceAccess", roots: Callable[[], list[uuid.UUID]]) -> float:
    """The median of a walk from three roots, in milliseconds."""
    from django.db import connection

    from memories.search.related import find_links
    from spaces.isolation import bound

    times = []
    with bound(space), connection.cursor() as cursor:
        for _ in range(WALKS):
            times.append(milliseconds(find_links, cursor, space, roots()))
    return quantiles(times)[0]


def accesses() -> "list[AccessContext]":
    from memories.tests.factories import make_access

    return [make_access("large"), make_access("small")]


def main() -> bool:
    from memories.contested import list_contested
    from memories.graph import related_memories, space_graph

    large, small = accesses()
    ids = {access: fill(access.space(None), number) for access, number in ((large, LARGE), (small, SMALL))}
    ordinary = {access: walks(access.space(None), lambda a=access: random.sample(ids[a][1:], 3)) for access in ids}
    hub = walks(large.space(None), lambda: [ids[large][0], *random.sample(ids[large][1:], 2)])
    print(
        f"walk from three matches: {ordinary[large]:.1f} ms; with the hub {hub:.1f} ms; small {ordinary[small]:.1f} ms"
    )
    for name, action in (
        ("page of the graph, depth 1", lambda: space_graph(large, None)),
        ("links of the hub, first page", lambda: related_memories(large, ids[large][0])),
        ("contested pairs, first page", lambda: list_contested(large)),
    ):
        print(f"{name}: p50 {quantiles([milliseconds(action) for _ in range(20)])[0]:.1f} ms")
    size = verdict("walk over 100,000 edges / over 1,000", ordinary[large] / ordinary[small], LIMIT_SIZE)
    return verdict("walk with a hub / without", hub / ordinary[large], LIMIT_HUB) and size


if __name__ == "__main__":
    with scratch_database():
        held = main()
    sys.exit(0 if held else 1)
