"""Filling an embedding model in the background: in batches, at a limited rate, taken up again wherever it stopped.

What a model still has to embed are its debts, as everywhere; some are owed at a time, so that their table stays small.
A round is short, so that other work gets its turn, and one process at a time does the rounds of a model.
"""

import logging
import time
from collections import defaultdict
from datetime import timedelta

from django.db.models import Min
from django.utils import timezone

from core.errors import ProviderUnavailable
from memories.models import EmbeddingModel, ModelState, PendingEmbedding
from memories.services.claims import Turns, held
from memories.services.embedding_models import drop_model
from memories.services.embeddings import BATCH, owe_missing_to, work_off
from memories.services.searched_model import ActiveModel, note_problem, usable
from spaces.isolation import every_space

logger = logging.getLogger(__name__)

# Debts made at once: finding what a model lacks costs a pass over what it has.
OWED_AT_ONCE = 5_000
ROUND_SECONDS = 4.0
# Longer than one call to the slowest provider, or the longest memory on the slowest machine. After a crash, the next
# round begins when it is over.
_TURN = timedelta(minutes=5)
_PAUSE_AFTER_FAILURE = 60.0
# How much the latest round counts in the speed that estimates are made of.
_LATEST = 0.3

_turns: defaultdict[int, Turns] = defaultdict(Turns)


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
    """How many memories were embedded, whether nothing more is due, and whether none of a batch could be."""
    size = min(BATCH, row.per_minute) if row.per_minute else BATCH
    rows = PendingEmbedding.objects.select_related("memory").filter(model_id=row.id)
    done = 0
    while True:
        claimed = [debt for debt in _turns[row.id].claim(rows, limit=size) if isinstance(debt, PendingEmbedding)]
        if not claimed:
            if owe_missing_to(row.id, OWED_AT_ONCE):
                continue
            return done, True, False
        _renew_turn(row.id)
        with held(claimed):
            settled = work_off(claimed, model)
        done += settled
        if not settled or row.per_minute or time.monotonic() - began > ROUND_SECONDS:
            return done, False, not settled


def _seconds_to_next_debt(model_id: int) -> float | None:
    """When the next debt is due; None when none is left but those of texts that were refused."""
    with every_space():
        rows = PendingEmbedding.objects.filter(model_id=model_id, failed_at__isnull=True)
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
