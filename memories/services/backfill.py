"""Filling an embedding model in the background: in batches, at a limited rate, taken up again wherever it stopped.

What a model still has to embed are its debts, as everywhere; some are owed at a time, so that their table stays small.
A round is short, so that other work gets its turn, and one process at a time does the rounds of a model.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.db.models import Min
from django.utils import timezone

from core.errors import ProviderUnavailable
from memories.embedding.service import split_passages
from memories.models import EmbeddingModel, Memory, ModelState, PendingEmbedding
from memories.services.embedding_models import drop_model
from memories.services.embeddings import INTERRUPTED, embed_memory, owe_missing_to, postpone, settle
from memories.services.searched_model import ActiveModel, note_problem, usable
from spaces.isolation import every_space

logger = logging.getLogger(__name__)

# Memories claimed at once, and passages of short memories that go to the provider in one call.
BATCH = 32
MOST_PASSAGES = 64
# Debts made at once: finding what a model lacks costs a pass over what it has.
OWED_AT_ONCE = 5_000
ROUND_SECONDS = 10.0
# Longer than one call to the slowest provider, or the longest memory on the slowest machine. After a crash, the next
# round begins when it is over.
_TURN = timedelta(minutes=5)
_PAUSE_AFTER_FAILURE = 60.0
# A memory that failed so often is left to the periodic work, and the model counts as complete.
_MOST_ATTEMPTS = 5
# How much the latest round counts in the speed that estimates are made of.
_LATEST = 0.3


def models_to_tend() -> list[int]:
    """The models that are being filled or removed and whose next round is due."""
    states = (ModelState.BACKFILLING, ModelState.DROPPING)
    return list(
        EmbeddingModel.objects.filter(state__in=states, next_batch_at__lte=timezone.now()).values_list("id", flat=True)
    )


def tend(model_id: int) -> float | None:
    """One round for a model that is being filled, or its removal; returns the seconds until the next round.

    None when nothing is left to do, or another process is at it.
    """
    row = EmbeddingModel.objects.filter(id=model_id).first()
    if row is None:
        return None
    if row.state == ModelState.DROPPING:
        drop_model(row)
        return None
    return backfill_round(row)


def backfill_round(row: EmbeddingModel) -> float | None:
    """Embed for some seconds, or one batch when there is a limit to their number; returns as `tend`."""
    if row.state != ModelState.BACKFILLING or not _take_turn(row.id):
        return None
    began = time.monotonic()
    done, pause = 0, 0.0
    try:
        model = usable(row)
        done, complete, failed = _embed_for_a_while(row, model, began)
    except ProviderUnavailable as error:
        note_problem(row.id, error.message)
        complete, failed = False, True
    if complete:
        left = _seconds_to_next_debt(row.id)
        if left is None:
            EmbeddingModel.objects.filter(id=row.id, state=ModelState.BACKFILLING).update(state=ModelState.READY)
            logger.info("embedding model %s is complete", row.slug)
            return None
        pause = min(left, _PAUSE_AFTER_FAILURE)
    elif failed:
        pause = _PAUSE_AFTER_FAILURE
    if row.per_minute:
        pause = max(pause, done * 60 / row.per_minute)
    _end_turn(row, done, time.monotonic() - began + pause, pause)
    return pause


def _embed_for_a_while(row: EmbeddingModel, model: ActiveModel, began: float) -> tuple[int, bool, bool]:
    """How many memories were embedded, whether nothing more is due, and whether the provider failed."""
    size = min(BATCH, row.per_minute) if row.per_minute else BATCH
    done = 0
    while True:
        memories = _claim(row.id, size)
        if not memories and not owe_missing_to(row.id, OWED_AT_ONCE):
            return done, True, False
        number, failed = _embed_batch(row.id, memories, model)
        done += number
        if failed or (memories and row.per_minute) or time.monotonic() - began > ROUND_SECONDS:
            return done, False, failed


def _embed_batch(model_id: int, memories: Sequence[Memory], model: ActiveModel) -> tuple[int, bool]:
    """How many were embedded, and whether all of a call failed."""
    done = 0
    groups = list(_grouped(memories, model))
    for number, group in enumerate(groups):
        _renew_turn(model_id)
        passages = [passage for _, own in group for passage in own]
        try:
            vectors = model.embedder.embed_passages(passages)
        except ProviderUnavailable as error:
            # It may be about one text: each is tried by itself.
            if error.permanent and len(group) > 1:
                settled = sum(embed_memory(memory, model, own) for memory, own in group)
                done += settled
                if settled:
                    continue
            else:
                for memory, _ in group:
                    postpone(memory, model_id, error)
            for memory, _ in (pair for later in groups[number + 1 :] for pair in later):
                postpone(memory, model_id, error)
            return done, True
        position = 0
        for memory, own in group:
            done += settle(memory, model, vectors[position : position + len(own)])
            position += len(own)
    return done, False


def _grouped(memories: Sequence[Memory], model: ActiveModel) -> Iterator[list[tuple[Memory, list[str]]]]:
    """Memories with their passages, as many together as one call to the provider may hold."""
    group: list[tuple[Memory, list[str]]] = []
    size = 0
    for memory in memories:
        passages = list(split_passages(memory.embedded_text, model.embedder.spec))
        if group and size + len(passages) > MOST_PASSAGES:
            yield group
            group, size = [], 0
        group.append((memory, passages))
        size += len(passages)
    if group:
        yield group


def _claim(model_id: int, number: int) -> list[Memory]:
    """Up to `number` memories that are due, leased to this process until another one may take its turn."""
    now = timezone.now()
    with every_space():
        due = list(
            PendingEmbedding.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("memory")
            .filter(model_id=model_id, failed_at__isnull=True, next_attempt_at__lte=now)
            .order_by("next_attempt_at", "id")[:number]
        )
        for row in due:
            # Longer each time, so that a text which ends its worker is not met again and again.
            row.next_attempt_at = now + _TURN * 2 ** min(row.attempts, 8)
            row.attempts += 1
            row.reason = INTERRUPTED
        PendingEmbedding.objects.bulk_update(due, ["next_attempt_at", "attempts", "reason"])
        return [row.memory for row in due]


def _seconds_to_next_debt(model_id: int) -> float | None:
    """When the next debt worth waiting for is due; None when none is left."""
    with every_space():
        rows = PendingEmbedding.objects.filter(model_id=model_id, failed_at__isnull=True, attempts__lt=_MOST_ATTEMPTS)
        moment = rows.aggregate(next=Min("next_attempt_at"))["next"]
    return None if moment is None else max((moment - timezone.now()).total_seconds(), 0.0)


def _take_turn(model_id: int) -> bool:
    now = timezone.now()
    rows = EmbeddingModel.objects.filter(id=model_id, state=ModelState.BACKFILLING, next_batch_at__lte=now)
    return rows.update(next_batch_at=now + _TURN) > 0


def _renew_turn(model_id: int) -> None:
    EmbeddingModel.objects.filter(id=model_id).update(next_batch_at=timezone.now() + _TURN)


def _end_turn(row: EmbeddingModel, done: int, seconds: float, pause: float) -> None:
    speed = done / max(seconds, 0.001)
    if row.speed is not None:
        speed = (1 - _LATEST) * row.speed + _LATEST * speed
    EmbeddingModel.objects.filter(id=row.id, state=ModelState.BACKFILLING).update(
        next_batch_at=timezone.now() + timedelta(seconds=pause), speed=speed
    )
