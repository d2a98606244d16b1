"""Memories that matches are linked to: at most two edges away, in both directions, never mixing the two.

One query walks from all matches at once. It cannot run in circles (a walk never visits a memory twice), follows a
bounded number of edges of each memory, and never leaves the space.
"""

# ruff: noqa: S608 - statements are put together from constants of this package; values are always parameters

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.backends.utils import CursorWrapper

from memories.models import RelationType
from spaces.access import SpaceAccess

# Matches that are shown with what they are linked to, and how far, as in the reference system.
ENRICHED_MATCHES = 3
MAXIMUM_HOPS = 2
# Edges followed from one memory in one direction, the newest first, and memories shown for one match.
MAXIMUM_FAN_OUT = 25
MAXIMUM_RELATED = 50

_STEP = """
        (SELECT e.{other} AS node, e.relation_type, e.note FROM memories_edge e
         WHERE {way} AND e.space_id = %(space)s AND e.{this} = walk.node
         ORDER BY e.created_at DESC, e.id LIMIT %(fan_out)s)"""
_RELATED = f"""
WITH RECURSIVE walk(root, node, relation_type, outgoing, hops, note, visited) AS (
    SELECT root, root, NULL::smallint, outgoing, 0, NULL::text, ARRAY[root]
    FROM unnest(%(roots)s::uuid[]) AS root CROSS JOIN (VALUES (true), (false)) AS direction(outgoing)
    UNION ALL
    SELECT walk.root, step.node, step.relation_type, walk.outgoing, walk.hops + 1, step.note, walk.visited || step.node
    FROM walk CROSS JOIN LATERAL ({_STEP.format(this="from_memory_id", other="to_memory_id", way="walk.outgoing")}
        UNION ALL {_STEP.format(this="to_memory_id", other="from_memory_id", way="NOT walk.outgoing")}
    ) AS step
    WHERE walk.hops < %(hops)s AND step.node <> ALL(walk.visited)
), distinct_steps AS (
    SELECT root, node, relation_type, outgoing, min(hops) AS hops, min(note) FILTER (WHERE hops = 1) AS note
    FROM walk WHERE hops > 0 GROUP BY root, node, relation_type, outgoing
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY root ORDER BY hops, outgoing DESC, node, relation_type) AS number
    FROM distinct_steps
)
SELECT root, node, relation_type, outgoing, hops, note FROM numbered WHERE number <= %(most)s ORDER BY root, number
"""


@dataclass(frozen=True)
class Link:
    """One way from a match (`root`) to another memory (`node`)."""

    root: uuid.UUID
    node: uuid.UUID
    relation_type: RelationType
    outgoing: bool
    hops: int
    note: str | None


def find_links(cursor: CursorWrapper, space: SpaceAccess, roots: Sequence[uuid.UUID]) -> list[Link]:
    """What `roots` are linked to, nearest first. One query, none without roots."""
    if not roots:
        return []
    cursor.execute(
        _RELATED,
        {
            "space": space.id,
            "roots": list(roots),
            "hops": MAXIMUM_HOPS,
            "fan_out": MAXIMUM_FAN_OUT,
            "most": MAXIMUM_RELATED,
        },
    )
    return [
        Link(root, node, RelationType(relation_type), outgoing, hops, note)
        for root, node, relation_type, outgoing, hops, note in cursor.fetchall()
    ]
