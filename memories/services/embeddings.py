"""Embedding what is owed: turns `PendingEmbedding` rows into `Embedding` rows.

The rows are the truth and the queue; a message only says that there may be work. Providers are called between
transactions, holding no lock and no connection's transaction.
"""

import logging
import random
import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.db import IntegrityError, connection
from django.utils import timezone
from pgvector import HalfVector

from core.errors import ProviderUnavailable
from core.text import excerpt
from memories.embedding.base import Vector
from memories.embedding.service import split_passages
from memories.models import KEPT_STATES, EmbeddingModel, Memory, PendingEmbedding
from memories.services.searched_model import ActiveModel as ActiveModel
from memories.services.searched_model import active_model as active_model
from memories.services.searched_model import complete_models, note_problem
from spaces.isolation import bound, every_space

logger = logging.getLogger(__name__)

# Longer memories are embedded in the background: at most about two seconds of the local model in the request.
MAXIMUM_CHUNKS_INLINE = 8
_FIRST_RETRY = timedelta(seconds=15)
_LAST_RETRY = timedelta(hours=1)


def owe_embedding(memory: Memory, model: ActiveModel | None) -> None:
    """Note, in the transaction that stores `memory`, that every kept model has to embed it.

    Without the `model` that is searched by nothing is noted; the sweep does once there is one. The models stay until
    that transaction ends: the one that drops a model waits for it.
    """
    if model is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO memories_pendingembedding
                (space_id, model_id, memory_id, attempts, next_attempt_at, reason, created_at)
            SELECT %s, id, %s, 0, now(), '', now() FROM memories_embeddingmodel WHERE state = ANY(%s) FOR KEY SHARE
            ON CONFLICT DO NOTHING
            """,
            [memory.space_id, memory.id, [state.value for state in KEPT_STATES]],
        )


def embed_memory(memory: Memory, model: ActiveModel, chunks: Sequence[str] | None = None) -> bool:
    """Embed one memory now and settle its debt; returns False when the provider did not answer.

    A failure is noted with its reason and the time of the next attempt, and is never raised: the memory is stored and
    found by its words either way.
    """
    passages = chunks if chunks is not None else split_passages(memory.embedded_text, model.embedder.spec)
    try:
        vectors = model.embedder.embed_passages(passages)
    except ProviderUnavailable as error:
        postpone(memory, model.row_id, error)
        return False
    return settle(memory, model, vectors)


def settle(memory: Memory, model: ActiveModel, vectors: Sequence[Vector]) -> bool:
    """Store what a model made of a memory; False when the model was dropped in the meantime."""
    try:
        store_embedding(memory, model.row_id, vectors)
    except IntegrityError:
        if EmbeddingModel.objects.filter(id=model.row_id).exists():
            raise
        return False
    if model.problem:
        note_problem(model.row_id, "")
    return True


def store_embedding(memory: Memory, model_id: int, vectors: Sequence[Vector]) -> None:
    """Write the chunks of a memory and settle its debt, unless it was forgotten in the meantime.

    The debt of a note that says something else by now stays.
    """
    with bound(memory.space_id):
        row = Memory.objects.select_for_update().filter(id=memory.id, is_active=True).first()
        still_active = row is not None
        if row is not None and row.embedded_text != memory.embedded_text:
            return
        PendingEmbedding.objects.filter(memory_id=memory.id, model_id=model_id).delete()
        if still_active:
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO memories_embedding (space_id, model_id, memory_id, chunk, embedding)"
                    " VALUES (%s, %s, %s, %s, %s::halfvec) ON CONFLICT DO NOTHING",
                    [
                        (memory.space_id, model_id, memory.id, number, HalfVector(vector).to_text())
                        for number, vector in enumerate(vectors)
                    ],
                )


def remove_embeddings(space_id: uuid.UUID, memories: Sequence[Memory]) -> None:
    """Drop the vectors and debts of memories that became inactive."""
    ids = [memory.id for memory in memories]
    PendingEmbedding.objects.filter(memory_id__in=ids).delete()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memories_embedding WHERE space_id = %s AND memory_id = ANY(%s)", [space_id, ids])


def embed_pending(limit: int = 200) -> int:
    """Work off debts that are due, oldest first; returns how many were settled. Safe to run in several processes.

    Those of the model that is searched by come first; `backfill` does those of a model that is filled. Stops at the
    first temporary failure of a model's provider: its others would meet the same.
    """
    settled = 0
    for model in complete_models():
        while settled < limit:
            memory = _claim(model.row_id)
            if memory is None or not embed_memory(memory, model):
                break
            settled += 1
    return settled


def owe_missing(limit: int = 10_000) -> int:
    """Owe an embedding to every active memory that has neither one nor a debt, as after embeddings were turned off."""
    return sum(owe_missing_to(model.row_id, limit) for model in complete_models())


def owe_missing_to(model_id: int, limit: int) -> int:
    """As `owe_missing`, by one model; returns how many more are owed now."""
    with every_space(), connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO memories_pendingembedding
                (space_id, model_id, memory_id, attempts, next_attempt_at, reason, created_at)
            SELECT m.space_id, %(model)s, m.id, 0, now(), '', now()
            FROM memories_memory m
            WHERE m.is_active
              AND NOT EXISTS (SELECT 1 FROM memories_embedding e
                              WHERE e.space_id = m.space_id AND e.model_id = %(model)s AND e.memory_id = m.id)
              AND NOT EXISTS (SELECT 1 FROM memories_pendingembedding p
                              WHERE p.space_id = m.space_id AND p.model_id = %(model)s AND p.memory_id = m.id)
            LIMIT %(limit)s
            ON CONFLICT DO NOTHING
            """,
            {"model": model_id, "limit": limit},
        )
        return int(cursor.rowcount)


# A claim is a lease: another process may take the row again when this one died with it. The longest memory takes about
# a minute. Each claim counts as an attempt and doubles the lease, so that a text which ends its worker is not met again
# and again.
_LEASE = timedelta(minutes=3)
_LONGEST_LEASE = timedelta(days=1)
INTERRUPTED = "An attempt did not come to its end: the process that made it was stopped."


def _claim(model_id: int) -> Memory | None:
    """The next memory that is due, leased to this process."""
    with every_space():
        due: PendingEmbedding | None = (
            PendingEmbedding.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("memory")
            .filter(model_id=model_id, next_attempt_at__lte=timezone.now())
            .order_by("next_attempt_at", "id")
            .first()
        )
        if due is None:
            return None
        due.next_attempt_at = timezone.now() + min(_LEASE * 2 ** min(due.attempts, 10), _LONGEST_LEASE)
        due.attempts += 1
        due.reason = INTERRUPTED
        due.save(update_fields=["next_attempt_at", "attempts", "reason"])
        return due.memory


def postpone(memory: Memory, model_id: int, error: ProviderUnavailable) -> None:
    """Note why a memory could not be embedded, and when to try again."""
    logger.warning("embedding memory %s was postponed: %s", memory.id, error.message)
    if error.permanent:
        note_problem(model_id, error.message)
    with bound(memory.space_id):
        row = PendingEmbedding.objects.filter(memory_id=memory.id, model_id=model_id).first()
        if row is None:
            return
        delay = _LAST_RETRY if error.permanent else min(_FIRST_RETRY * 2 ** min(row.attempts, 10), _LAST_RETRY)
        PendingEmbedding.objects.filter(id=row.id).update(
            next_attempt_at=timezone.now() + delay * random.uniform(0.8, 1.2),  # noqa: S311 - spreading, not secrecy
            reason=excerpt(error.message, 500),
        )
