"""Storing what an extractor found: one transaction for all facts of a text, their edges and what they supersede."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils import timezone

from documents.models import Stage
from memories.embedding.base import Vector
from memories.embedding.confirm import is_same_statement
from memories.extraction.base import Candidate, Fact
from memories.models import Edge, Memory, RelationType
from memories.services.embeddings import ActiveModel, owe_embedding, remove_embeddings, store_embedding
from memories.services.forget import mark_inactive
from memories.services.jobs import Job
from memories.services.outcome import Outcome
from memories.services.record import recording
from memories.services.settling import lock_row, settle
from memories.services.statements import content_hash, new_memory, term_context
from memories.services.terms import add_terms, remove_terms


@dataclass(frozen=True)
class Found:
    """What the providers said about a text, before the transaction that stores it.

    `vectors` holds those of each fact's passages, empty when they could not be made; `similarity` how alike each fact
    is to each candidate.
    """

    candidates: Sequence[Candidate]
    facts: Sequence[Fact]
    model: ActiveModel | None = None
    vectors: Sequence[Sequence[Vector]] = ()
    similarity: Sequence[Mapping[uuid.UUID, float]] = ()
    reason: str = ""

    def agrees(self, number: int, target: uuid.UUID) -> bool:
        """Whether the model finds a fact close enough to a memory that it may replace it."""
        if self.model is None or not self.similarity:
            return False
        return self.similarity[number].get(target, 0.0) >= self.model.embedder.spec.update_threshold


@dataclass
class _Changes:
    """What one transaction does, as it is put together."""

    memories: list[uuid.UUID] = field(default_factory=list)
    known: int = 0
    added: list[tuple[int, Memory]] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    superseded: dict[uuid.UUID, uuid.UUID] = field(default_factory=dict)
    contested: dict[uuid.UUID, None] = field(default_factory=dict)
    lost: dict[uuid.UUID, None] = field(default_factory=dict)


def store_facts(job: Job, found: Found) -> bool:
    """Store facts with everything that follows from them; False when the document is settled already.

    Raises `IntegrityError` when another save stored one of them at the same moment: the caller tries again.
    """
    now = timezone.now()
    with recording(job.access, job.space.id, "Save what a text says") as record:
        if not lock_row(job):
            return False
        rows = Memory.objects.in_space(job.space)
        whole = [] if job.is_first else list(rows.active().filter(document_id=job.document.id, version=1))
        if not job.is_first and not whole:
            # Forgotten, edited or superseded since: the facts of an older text must not bring it back.
            settle(job, extraction=Stage.FAILED, reason="The text was forgotten or changed before it could be split.")
            return True
        targets = {relation.target for fact in found.facts for relation in fact.relations}
        locked = {
            memory.id: memory
            for memory in rows.filter(id__in=[*targets, *(memory.id for memory in whole)])
            .select_for_update()
            .order_by("id")
        }
        changes = _plan(job, found, locked, now)
        _supersede_whole(changes, whole)
        _write(job, found, changes, locked, now)
        outcome = Outcome(
            memories=tuple(changes.memories),
            known=changes.known,
            superseded=tuple(changes.superseded),
            contested=tuple(changes.contested),
            lost=tuple(changes.lost),
            is_split=True,
        )
        settle(job, extraction=Stage.DONE, outcome=outcome, reason=found.reason)
        record.created(*(memory.id for _, memory in changes.added))
        record.changed(*changes.superseded)
    return True


def _plan(job: Job, found: Found, locked: Mapping[uuid.UUID, Memory], now: datetime) -> _Changes:
    """Which facts are new, and what each does to the memories it names. One query."""
    changes = _Changes()
    digests = {number: content_hash(fact.text, _category(job, fact)) for number, fact in enumerate(found.facts)}
    rows = (
        Memory.objects.in_space(job.space).active().filter(slug__isnull=True, content_hash__in=list(digests.values()))
    )
    known = {bytes(digest): identifier for identifier, digest in rows.values_list("id", "content_hash")}
    for number, fact in enumerate(found.facts):
        existing = known.get(digests[number]) or _restated(fact, found.candidates)
        if existing is not None:
            if existing not in changes.memories:
                changes.memories.append(existing)
                changes.known += 1
            continue
        # A moment apart each, so that lists keep the order of the text.
        moment = now + timedelta(microseconds=len(changes.added))
        memory = new_memory(
            job.access, job.document, fact.text, moment, category=_category(job, fact), source=job.row.source
        )
        known[digests[number]] = memory.id
        changes.memories.append(memory.id)
        changes.added.append((number, memory))
        for relation in fact.relations:
            target = locked.get(relation.target)
            if target is not None:
                _relate(job, changes, memory, target, relation.type, relation.note)
                if relation.type == RelationType.UPDATES and found.agrees(number, target.id):
                    _update(job, changes, memory, target)
    return changes


def _category(job: Job, fact: Fact) -> str | None:
    category: str | None = fact.category or job.row.category
    return category


def _restated(fact: Fact, candidates: Sequence[Candidate]) -> uuid.UUID | None:
    """The recalled memory that a fact only repeats."""
    return next((known.id for known in candidates if is_same_statement(fact.text, known.text)), None)


def _relate(
    job: Job, changes: _Changes, memory: Memory, target: Memory, relation_type: RelationType, note: str | None
) -> None:
    changes.edges.append(
        Edge(
            space_id=job.space.id,
            from_memory=memory,
            to_memory=target,
            relation_type=relation_type,
            note=note,
            created_by_id=job.access.user_id,
        )
    )


def _update(job: Job, changes: _Changes, memory: Memory, target: Memory) -> None:
    """A fact replaces one of its own author, or of nobody; a colleague's, or a note, is left active, and told."""
    if not target.is_active:
        changes.lost[target.id] = None
    elif target.is_note or target.created_by_id not in (None, job.access.user_id):
        changes.contested[target.id] = None
    else:
        changes.superseded.setdefault(target.id, memory.id)


def _supersede_whole(changes: _Changes, whole: Sequence[Memory]) -> None:
    """A text that was kept whole until it could be split gives way to its facts."""
    for memory in whole:
        if memory.id not in changes.memories and changes.memories:
            changes.superseded[memory.id] = changes.memories[0]


def _write(job: Job, found: Found, changes: _Changes, locked: Mapping[uuid.UUID, Memory], now: datetime) -> None:
    for _, memory in changes.added:
        memory.save(force_insert=True)
    Edge.objects.bulk_create(changes.edges, ignore_conflicts=True)
    removed = [locked[identifier] for identifier in changes.superseded]
    for memory in removed:
        mark_inactive(job.access, job.space, [memory], superseded_by=changes.superseded[memory.id])
    remove_embeddings(job.space.id, removed)
    for number, memory in changes.added:
        owe_embedding(memory, found.model)
        if found.model is not None and found.vectors:
            store_embedding(memory, found.model.row_id, found.vectors[number])
    remove_terms(job.space.id, removed)
    context = term_context(job.access.display_name, now)
    for _, memory in changes.added:
        add_terms(memory, job.space.language, context)
