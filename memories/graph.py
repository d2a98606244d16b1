"""The graph of a space: its newest memories and the edges among them."""

from collections.abc import Sequence
from dataclasses import dataclass

from memories.models import Edge, Memory
from spaces.access import SpaceAccess

# The window of the reference system.
WINDOW = 50


@dataclass(frozen=True)
class Graph:
    """Memories of any status, and the edges that have both their ends among them."""

    memories: Sequence[Memory]
    edges: Sequence[Edge]


def recent_graph(space: SpaceAccess) -> Graph:
    """The newest memories of a space with their edges. Two queries."""
    memories = list(Memory.objects.in_space(space).newest_first()[:WINDOW])
    ids = [memory.id for memory in memories]
    edges = Edge.objects.in_space(space).filter(from_memory_id__in=ids, to_memory_id__in=ids)
    return Graph(memories=memories, edges=list(edges.order_by("created_at", "id")))
