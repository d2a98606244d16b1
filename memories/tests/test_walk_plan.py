"""The walk over 100,000 edges reads indexes only, and of a hub no more than its newest edges."""

import uuid
from typing import Any

import pytest
from django.db import connection

from memories.models import Memory, RelationType
from memories.search import related
from memories.search.related import Walk, links_statement
from memories.tests.factories import make_access
from spaces.access import SpaceAccess
from spaces.isolation import bound

pytestmark = pytest.mark.django_db
MEMORIES = 3_000
EDGES = 100_000

_FILL = """
-- Thousands lead to the first memory, the others spread over all.
INSERT INTO memories_edge (id, space_id, from_memory_id, to_memory_id, relation_type, created_at)
SELECT gen_random_uuid(), %(space)s, lpad(to_hex(1 + n %% (%(memories)s - 1)), 32, '0')::uuid,
       CASE WHEN n %% 2 = 0 THEN lpad('0', 32, '0')
            ELSE lpad(to_hex((1 + n %% (%(memories)s - 1) + 7 + n / %(memories)s * 31) %% %(memories)s), 32, '0')
       END::uuid,
       n %% 3, now() + n * interval '1 second'
FROM generate_series(0, %(edges)s * 2) AS n
ON CONFLICT DO NOTHING;
"""
# The hub and two others.
ROOTS = [uuid.UUID(int=number) for number in (0, 17, 471)]


@pytest.fixture
def large() -> SpaceAccess:
    """A space of 100,000 edges, thousands of them to one memory."""
    space = make_access().space(None)
    Memory.objects.bulk_create(
        Memory(id=uuid.UUID(int=number), space_id=space.id, text="x", content_hash=b"", is_active=False)
        for number in range(MEMORIES)
    )
    with connection.cursor() as cursor:
        cursor.execute(_FILL, {"space": space.id, "memories": MEMORIES, "edges": EDGES})
        cursor.execute("SELECT count(*) FROM memories_edge WHERE space_id = %s", [space.id])
        assert cursor.fetchone()[0] >= EDGES
        cursor.execute("ANALYZE memories_edge")
    return space


def nodes(plan: dict[str, Any]):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def plan(space: SpaceAccess, roots: list[uuid.UUID], walk: Walk) -> list[dict[str, Any]]:
    statement, parameters = links_statement(space, roots, walk)
    with bound(space), connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement, parameters)
        ((explained,),) = cursor.fetchall()
    return list(nodes(explained[0]["Plan"]))


def test_every_step_is_an_index_scan_that_stops_at_its_bound(large):
    for walk in (Walk(), Walk(direct=200), Walk(types=[RelationType.UPDATES])):
        steps = plan(large, ROOTS, walk)
        reads = [node for node in steps if node.get("Relation Name")]
        assert {(node["Node Type"], node["Index Name"]) for node in reads} == {
            ("Index Scan", "edge_walk_out"),
            ("Index Scan", "edge_walk_in"),
        }
        # What both hops may read from three roots at most; all edges of the hub are thousands.
        direct = walk.direct or related.MAXIMUM_FAN_OUT
        most = len(ROOTS) * direct * (1 + related.MAXIMUM_FAN_OUT)
        assert all(node["Actual Rows"] * node["Actual Loops"] <= most for node in reads)
        assert not any(node["Node Type"] == "Sort" and node.get("Plans", [{}])[0] in reads for node in steps)
