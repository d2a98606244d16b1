"""The graph, what contradicts each other in it, and what comes back into it, on the wire."""

from collections.abc import Sequence
from typing import Literal, Self
from uuid import UUID

from core.paging import CursorPage, Page
from core.wire import Moment, WireModel, fit_texts
from memories.contested import Pair
from memories.graph import Graph
from memories.models import Decision, Resolution
from memories.search.results import RelatedMemory
from memories.services.restore import Restored
from memories.wire import WireGraph, WireMemory, WireRelatedMemory


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


class WireResolution(WireModel):
    """What was decided about a pair, by whom, when and why; `memoryId` was taken out of search by it."""

    decision: Literal["keep_both", "supersede", "forget"]
    memory_id: UUID | None = None
    reason: str
    resolved_by_user_id: UUID | None = None
    resolved_by: str | None = None
    resolved_at: Moment

    @classmethod
    def of(cls, resolution: Resolution) -> Self:
        return cls(
            decision=Decision(resolution.decision).wire,
            memory_id=resolution.memory_id,
            reason=resolution.reason,
            resolved_by_user_id=resolution.resolved_by_id,
            resolved_by=resolution.resolved_by.display_name if resolution.resolved_by else None,
            resolved_at=resolution.resolved_at,
        )


class WirePair(WireModel):
    """Two memories of which `updating` says to update `contested`; `note` says why."""

    pair_id: UUID
    updating: WireMemory
    contested: WireMemory
    note: str | None = None
    created_at: Moment
    resolution: WireResolution | None = None

    @classmethod
    def of(cls, pair: Pair) -> Self:
        return cls(
            pair_id=pair.edge.id,
            updating=WireMemory.of(pair.edge.from_memory),
            contested=WireMemory.of(pair.edge.to_memory),
            note=pair.edge.note,
            created_at=pair.edge.created_at,
            resolution=WireResolution.of(pair.resolution) if pair.resolution else None,
        )


class WirePairPage(WireModel):
    """One page of contested pairs; `page` and `limit` are the values used."""

    items: list[WirePair]
    page: int
    limit: int
    total_count: int

    @classmethod
    def of(cls, page: Page[Pair]) -> Self:
        return cls(items=_pairs(page.items), page=page.page, limit=page.limit, total_count=page.total_count)


class WirePairList(WireModel):
    """One page of contested pairs; `nextCursor` is left out on the last one."""

    items: list[WirePair]
    next_cursor: str | None = None

    @classmethod
    def of(cls, page: CursorPage[Pair]) -> Self:
        return cls(items=_pairs(page.items), next_cursor=page.next_cursor)


class WireResolved(WireModel):
    """What a decision about a contested pair did, or the taking back of one."""

    pair_id: UUID
    memory_id: UUID | None = None
    affected_count: int
    message: str

    @classmethod
    def of(cls, resolution: Resolution) -> Self:
        message = {
            Decision.KEEP_BOTH: "Both stay; the pair is contested no more.",
            Decision.SUPERSEDE: "The contested memory was superseded.",
            Decision.FORGET: "One of the two was forgotten.",
        }[Decision(resolution.decision)]
        return cls._told(resolution, message)

    @classmethod
    def of_reopened(cls, resolution: Resolution) -> Self:
        restored = " and the memory restored" if resolution.memory_id else ""
        return cls._told(resolution, f"The decision was taken back{restored}.")

    @classmethod
    def _told(cls, resolution: Resolution, message: str) -> Self:
        return cls(
            pair_id=resolution.edge_id,
            memory_id=resolution.memory_id,
            affected_count=int(resolution.memory_id is not None),
            message=message,
        )


def _pairs(pairs: Sequence[Pair]) -> list[WirePair]:
    shown = [WirePair.of(pair) for pair in pairs]
    fit_texts([memory for pair in shown for memory in (pair.updating, pair.contested)])
    return shown
