"""Memories and search results on the wire."""

from typing import Literal, Self
from uuid import UUID

from core.paging import Page
from core.wire import Moment, WireModel, fit_texts
from documents.models import Status
from documents.wire import WireStages, authorship
from memories.graph import Graph
from memories.models import Memory, RelationType, RelationWire
from memories.search.results import Match, RelatedMemory, SearchResult
from memories.services.forget import Forgotten
from memories.services.outcome import Saved


class WireMemory(WireModel):
    """A memory in a list; an inactive one tells who took it out of search, when and why, or what superseded it."""

    id: UUID
    text: str
    text_truncated: bool | None = None
    version: int
    document_id: UUID | None = None
    is_active: bool
    created_at: Moment
    category: str | None = None
    source: str | None = None
    created_by_user_id: UUID | None = None
    created_by: str | None = None
    updated_by_user_id: UUID | None = None
    updated_by: str | None = None
    superseded_by_memory_id: UUID | None = None
    forgotten_by_user_id: UUID | None = None
    forgotten_by: str | None = None
    forgotten_at: Moment | None = None
    forgotten_reason: str | None = None

    @classmethod
    def of(cls, memory: Memory) -> "WireMemory":
        return cls(
            id=memory.id,
            text=memory.text,
            version=memory.version,
            document_id=memory.document_id,
            is_active=memory.is_active,
            created_at=memory.created_at,
            category=memory.category,
            source=memory.source,
            **authorship(memory),
            superseded_by_memory_id=memory.superseded_by_id,
            forgotten_by_user_id=memory.deactivated_by_id,
            forgotten_by=memory.deactivated_by.display_name if memory.deactivated_by else None,
            forgotten_at=memory.deactivated_at,
            forgotten_reason=memory.deactivation_reason or None,
        )


class WireMemoryPage(WireModel):
    """One page of memories; `page` and `limit` are the values used."""

    items: list[WireMemory]
    page: int
    limit: int
    total_count: int

    @classmethod
    def of(cls, page: Page[Memory]) -> "WireMemoryPage":
        items = [WireMemory.of(memory) for memory in page.items]
        fit_texts(items)
        return cls(
            items=items,
            page=page.page,
            limit=page.limit,
            total_count=page.total_count,
        )


class WireRelatedMemory(WireModel):
    """A memory that a match is linked to, over at most two edges of one direction."""

    id: UUID
    text: str
    text_truncated: bool | None = None
    relation_type: RelationWire
    hops: int
    is_active: bool
    direction: Literal["Outgoing", "Incoming"]
    note: str | None = None

    @classmethod
    def of(cls, related: RelatedMemory) -> "WireRelatedMemory":
        return cls(
            id=related.memory.id,
            text=related.memory.text,
            relation_type=related.relation_type.wire,
            hops=related.hops,
            is_active=related.memory.is_active,
            direction="Outgoing" if related.outgoing else "Incoming",
            note=related.note,
        )


class WireMatch(WireModel):
    """A memory that was found. `score` orders the list; `scores` are the values of each leg that saw it."""

    id: UUID
    text: str
    text_truncated: bool | None = None
    score: float
    scores: dict[str, float] | None = None
    document_id: UUID | None = None
    category: str | None = None
    source: str | None = None
    related_memories: list[WireRelatedMemory] | None = None
    created_by_user_id: UUID | None = None
    created_by: str | None = None

    @classmethod
    def of(cls, match: Match) -> "WireMatch":
        memory = match.memory
        return cls(
            id=memory.id,
            text=memory.text,
            score=match.score,
            scores=match.scores or None,
            document_id=memory.document_id,
            category=memory.category,
            source=memory.source,
            related_memories=[WireRelatedMemory.of(related) for related in match.related] or None,
            created_by_user_id=memory.created_by_id,
            created_by=memory.created_by.display_name if memory.created_by else None,
        )


class WireSearchResult(WireModel):
    """What was found, where, and how honestly: the legs that ran, those that failed, and what is not embedded yet."""

    matches: list[WireMatch]
    profile: list[WireMemory] | None = None
    searched_space: str
    legs: list[str]
    degraded: list[str]
    pending_embeddings: int

    @classmethod
    def of(cls, result: SearchResult) -> "WireSearchResult":
        matches = [WireMatch.of(match) for match in result.matches]
        profile = None if result.profile is None else [WireMemory.of(memory) for memory in result.profile]
        related = [memory for match in matches for memory in match.related_memories or []]
        passages = {id(wire): match.passage for wire, match in zip(matches, result.matches, strict=True)}
        fit_texts([*matches, *related, *(profile or [])], passage_of=lambda item: passages.get(id(item)))
        return cls(
            matches=matches,
            profile=profile,
            searched_space=result.searched_space.key,
            legs=list(result.legs),
            degraded=list(result.degraded),
            pending_embeddings=result.pending_embeddings,
        )


def saved_message(saved: Saved) -> str:
    """What a save did, in sentences for the agent that made it."""
    outcome = saved.outcome
    if saved.status == Status.PENDING:
        return (
            "The text is stored and waits to be split into facts; nothing more needs to be done. "
            "getDocument tells what became of it."
        )
    if saved.status == Status.FAILED:
        return f"The text is stored as a document, but could not be made a memory: {saved.reason}"
    if saved.duplicate:
        return "This is remembered already; nothing was added."
    if not outcome.is_split:
        return _whole_message(saved)
    parts = [f"Saved {_memories(len(outcome.memories) - outcome.known)}, {len(outcome.superseded)} superseded."]
    if outcome.known:
        parts.append(f"{outcome.known} more of what the text says {_was(outcome.known)} known already.")
    if outcome.contested:
        parts.append(
            f"{_memories(len(outcome.contested))} by other members {_look(len(outcome.contested))} outdated but "
            f"{_was(len(outcome.contested))} left active; list_contested shows why, and resolve_contested decides."
        )
    if outcome.lost:
        parts.append(
            f"{_memories(len(outcome.lost))} that this would have replaced {_was(len(outcome.lost))} superseded or "
            "forgotten by somebody else in the meantime; check that both say the same."
        )
    if saved.reason:
        parts.append(saved.reason)
    return " ".join(parts)


def _whole_message(saved: Saved) -> str:
    by_meaning = (
        "" if saved.embedded else (" It is found by its words now, and by meaning as soon as its embedding is made.")
    )
    return f"Saved.{by_meaning}" + (f" {saved.reason}" if saved.reason else "")


def _memories(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _look(number: int) -> str:
    return "looks" if number == 1 else "look"


class WireForgetCandidate(WireModel):
    """A memory that a forget may have meant."""

    id: UUID
    text: str
    text_truncated: bool | None = None
    category: str | None = None
    similarity: float | None = None


class WireWriteResult(WireModel):
    """What a save or a forget did.

    Of a save that is still going on `status` is Pending, and the document tells the rest later. The lists of
    superseded, contested and already changed memories are there when the text was split into facts.
    """

    memory_id: UUID | None = None
    action: Literal["Save", "Forget"]
    affected_count: int
    message: str
    memory_ids: list[UUID] | None = None
    document_id: UUID | None = None
    status: Literal["Pending", "Processed", "Failed"] | None = None
    stages: WireStages | None = None
    reason: str | None = None
    superseded_memory_ids: list[UUID] | None = None
    contested_memory_ids: list[UUID] | None = None
    already_changed_memory_ids: list[UUID] | None = None
    searchable_by_meaning: bool | None = None
    candidates: list[WireForgetCandidate] | None = None
    degraded: list[str] | None = None

    @classmethod
    def of_save(cls, saved: Saved) -> "WireWriteResult":
        outcome = saved.outcome
        is_split = outcome.is_split
        return cls(
            memory_id=saved.memories[0].id if saved.memories else None,
            action="Save",
            affected_count=len(outcome.memories) - outcome.known,
            message=saved_message(saved),
            memory_ids=list(outcome.memories) if saved.status == Status.PROCESSED else None,
            document_id=saved.document_id,
            status=saved.status.wire,
            stages=WireStages.of(saved.extraction, saved.embedding),
            reason=saved.reason or None,
            superseded_memory_ids=list(outcome.superseded) if is_split else None,
            contested_memory_ids=list(outcome.contested) if is_split else None,
            already_changed_memory_ids=list(outcome.lost) if is_split else None,
            searchable_by_meaning=saved.embedded,
        )

    @classmethod
    def of_forget(cls, forgotten: Forgotten) -> "WireWriteResult":
        number = len(forgotten.memories)
        if number:
            message = f"Forgot {number} {'memory' if number == 1 else 'memories'}."
        elif forgotten.candidates:
            message = (
                "Nothing was forgotten, because no memory says clearly this. If one of the candidates is meant, "
                "forget it by its id."
            )
        else:
            message = "Nothing was forgotten: no such active memory."
        candidates = [
            WireForgetCandidate(
                id=candidate.memory.id,
                text=candidate.memory.text,
                category=candidate.memory.category,
                similarity=candidate.similarity,
            )
            for candidate in forgotten.candidates
        ]
        fit_texts(candidates)
        return cls(
            action="Forget",
            affected_count=number,
            message=message,
            candidates=candidates or None,
            degraded=list(forgotten.degraded) or None,
        )


class WireGraphNode(WireModel):
    """A memory in the graph."""

    id: UUID
    text: str
    text_truncated: bool | None = None
    category: str | None = None
    is_active: bool
    created_at: Moment


class WireGraphEdge(WireModel):
    """An edge of the graph: `from` acts on `to`."""

    from_memory_id: UUID
    to_memory_id: UUID
    relation_type: RelationWire
    note: str | None = None


class WireGraph(WireModel):
    """Memories of a space and the edges among them."""

    nodes: list[WireGraphNode]
    edges: list[WireGraphEdge]

    @classmethod
    def of(cls, graph: Graph) -> Self:
        nodes = [
            WireGraphNode(
                id=memory.id,
                text=memory.text,
                category=memory.category,
                is_active=memory.is_active,
                created_at=memory.created_at,
            )
            for memory in graph.memories
        ]
        fit_texts(nodes)
        return cls(
            nodes=nodes,
            edges=[
                WireGraphEdge(
                    from_memory_id=edge.from_memory_id,
                    to_memory_id=edge.to_memory_id,
                    relation_type=RelationType(edge.relation_type).wire,
                    note=edge.note,
                )
                for edge in graph.edges
            ],
        )
