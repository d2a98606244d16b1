"""Memories that others are linked to: at most two edges away, in both directions, never mixing the two.

One query walks from all of them at once. It cannot run in circles (a walk never visits a memory twice), follows a
bounded number of edges of each memory, and never leaves the space. Each step reads one of the two indexes
`edge_walk_out` and `edge_walk_in` in their own order and stops at the bound, so that a hub with 100,000 edges costs no
more than another memory (`memories/tests/test_walk_plan.py`).
"""

# ruff: noqa: S608 - statements are put together from constants of this package; values are always parameters

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
         WHERE {way} AND e.space_id = %(space)s AND e.{this} = walk.node {{narrowed}}
         ORDER BY e.created_at DESC, e.id LIMIT CASE WHEN walk.hops = 0 THEN %(direct)s ELSE %(fan_out)s END)"""
_NARROWED = "AND e.relation_type = ANY(%(types)s)"
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


@dataclass(frozen=True)
class Walk:
    """How far links are followed: edges away, edges of a root in one direction, and links told of a root.

    `direct` None means as many as of every other memory. `types` narrows every step to these relations.
    """

    hops: int = MAXIMUM_HOPS
    direct: int | None = None
    most: int = MAXIMUM_RELATED
    types: Sequence[RelationType] | None = None


def find_links(
    cursor: CursorWrapper, space: SpaceAccess, roots: Sequence[uuid.UUID], walk: Walk | None = None
) -> list[Link]:
    """What `roots` are linked to, nearest first. One query, none without roots."""
    if not roots:
        return []
    walk = walk or Walk()
    cursor.execute(*links_statement(space, roots, walk))
    return [
        Link(root, node, RelationType(relation_type), outgoing, hops, note)
        for root, node, relation_type, outgoing, hops, note in cursor.fetchall()
    ]


def links_statement(space: SpaceAccess, roots: Sequence[uuid.UUID], walk: Walk) -> tuple[str, dict[str, Any]]:
    """The statement of a walk and its parameters."""
    return _RELATED.format(narrowed=_NARROWED if walk.types is not None else ""), {
        "space": space.id,
        "roots": list(roots),
        "hops": walk.hops,
        "direct": MAXIMUM_FAN_OUT if walk.direct is None else walk.direct,
        "fan_out": MAXIMUM_FAN_OUT,
        "most": walk.most,
        "types": [int(relation_type) for relation_type in walk.types or ()],
    }
