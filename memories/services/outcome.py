"""What a save did, as it is kept with its document and told to whoever asks, during the call or later."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, Q

from core.errors import NotFound
from documents.models import Document, Stage, Status
from memories.models import Embedding, Memory, ModelState, PendingEmbedding
from spaces.access import SpaceAccess
from spaces.isolation import bound


@dataclass(frozen=True)
class Outcome:
    """What became of a saved text, by ids of memories.

    `memories` are those that say it now, in its order, and `known` counts how many of them were there before.
    `superseded` were replaced; `contested` look outdated but belong to somebody else and were left active; `lost` would
    have been replaced, had somebody else not superseded or forgotten them first. `is_split`: an extractor made the
    memories, so they are worded by it.
    """

    memories: tuple[uuid.UUID, ...] = ()
    known: int = 0
    superseded: tuple[uuid.UUID, ...] = ()
    contested: tuple[uuid.UUID, ...] = ()
    lost: tuple[uuid.UUID, ...] = ()
    is_split: bool = False

    def as_json(self) -> dict[str, Any]:
        """As it is stored with the document."""
        return {
            "memories": [str(identifier) for identifier in self.memories],
            "known": self.known,
            "superseded": [str(identifier) for identifier in self.superseded],
            "contested": [str(identifier) for identifier in self.contested],
            "lost": [str(identifier) for identifier in self.lost],
            "is_split": self.is_split,
        }

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> "Outcome":
        lists = {
            name: tuple(uuid.UUID(text) for text in stored[name])
            for name in ("memories", "superseded", "contested", "lost")
        }
        return cls(known=stored["known"], is_split=stored["is_split"], **lists)


@dataclass(frozen=True)
class Saved:
    """What a save did so far. While `status` is pending there are no `memories` yet, and asking for the document later
    tells the rest; `reason` says why something did not come to its usual end."""

    space: SpaceAccess
    document_id: uuid.UUID | None
    status: Status
    extraction: Stage
    embedding: Stage
    memories: Sequence[Memory] = ()
    outcome: Outcome = field(default_factory=Outcome)
    reason: str = ""

    @property
    def memory(self) -> Memory:
        """The first memory. Raises `LookupError` while there is none."""
        if not self.memories:
            raise LookupError("the text has not been processed yet")
        return self.memories[0]

    @property
    def embedded(self) -> bool:
        """Whether all of it is found by meaning."""
        return self.embedding == Stage.DONE

    @property
    def duplicate(self) -> bool:
        """Whether the space knew all of it already."""
        return bool(self.memories) and self.outcome.known == len(self.memories)


def read_saved(space: SpaceAccess, document_id: uuid.UUID) -> Saved:
    """What has become of a saved document until now. Three queries. Raises `NotFound` when it is gone."""
    with bound(space):
        document: Document | None = Document.objects.in_space(space).defer("raw_content").filter(id=document_id).first()
        if document is None:
            raise NotFound(f"Document {document_id} was deleted before it was processed.")
        rows = Memory.objects.in_space(space)
        if document.outcome is not None:
            outcome = Outcome.of_json(document.outcome)
            found = rows.in_bulk(outcome.memories)
            memories = [found[identifier] for identifier in outcome.memories if identifier in found]
        else:
            memories = list(rows.filter(document_id=document_id).order_by("created_at", "id"))
            outcome = Outcome(memories=tuple(memory.id for memory in memories))
        status = Status(document.status)
        return Saved(
            space=space,
            document_id=document_id,
            status=status,
            extraction=Stage(document.extraction or Stage.OFF),
            embedding=embedding_stage(space, outcome.memories) or _not_yet(status),
            memories=memories,
            outcome=outcome,
            reason=document.reason,
        )


def _not_yet(status: Status) -> Stage:
    return Stage.PENDING if status == Status.PENDING else Stage.OFF


def embedding_stage(space: SpaceAccess, memory_ids: Sequence[uuid.UUID]) -> Stage | None:
    """Whether memories are found by meaning, within the caller's binding; None when none of them is active."""
    searched = Q(model__state=ModelState.SEARCHED)
    embedded = Exists(Embedding.objects.filter(searched, space_id=space.id, memory_id=OuterRef("pk")))
    owed = PendingEmbedding.objects.filter(searched, space_id=space.id, memory_id=OuterRef("pk"))
    states = list(
        Memory.objects.in_space(space)
        .active()
        .filter(id__in=memory_ids)
        .values_list(embedded, Exists(owed), Exists(owed.filter(failed_at__isnull=False)))
    )
    if not states:
        return None
    if all(is_embedded for is_embedded, _, _ in states):
        return Stage.DONE
    if any(has_failed and not is_embedded for is_embedded, _, has_failed in states):
        return Stage.FAILED
    return Stage.PENDING if any(is_owed for _, is_owed, _ in states) else Stage.OFF
