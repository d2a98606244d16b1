"""The graph and what comes back into it, on the wire."""

from typing import Self
from uuid import UUID

from core.paging import CursorPage
from core.wire import WireModel, fit_texts
from memories.graph import Graph
from memories.search.results import RelatedMemory
from memories.services.restore import Restored
from memories.wire import WireGraph, WireRelatedMemory


class WireGraphPage(WireGraph):
    """A page of a space's graph; `nextCursor` is left out on the last one."""

    next_cursor: str | None = None

    @classmethod
    def of(cls, graph: Graph) -> Self:
        page = super().of(graph)
        page.next_cursor = graph.next_cursor
        return page


class WireRelatedList(WireModel):
    """What a memory is linked to, nearest first; `nextCursor` is left out on the last page."""

    items: list[WireRelatedMemory]
    next_cursor: str | None = None

    @classmethod
    def of(cls, page: CursorPage[RelatedMemory]) -> Self:
        items = [WireRelatedMemory.of(related) for related in page.items]
        fit_texts(items)
        return cls(items=items, next_cursor=page.next_cursor)


class WireRestored(WireModel):
    """What a restore did."""

    memory_id: UUID
    affected_count: int
    message: str

    @classmethod
    def of(cls, restored: Restored) -> Self:
        message = "Restored." if restored.changed else "It is active already; nothing was changed."
        return cls(memory_id=restored.memory.id, affected_count=int(restored.changed), message=message)
