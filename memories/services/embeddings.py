"""Embedding what is owed: turns `PendingEmbedding` rows into `Embedding` rows.

The rows are the truth and the queue; a message only says that there may be work. Providers are called between
transactions, holding no lock and no connection's transaction.
"""

import logging
import uuid
from collections import defaultdict
from collections.abc import Sequence

from django.db import IntegrityError, connection
from pgvector import HalfVector

from core.errors import ProviderUnavailable
from memories.embedding.base import Vector
from memories.embedding.service import split_passages
from memories.models import KEPT_STATES, EmbeddingModel, Memory, PendingEmbedding
from memories.services.claims import INTERRUPTED as INTERRUPTED
from memories.services.claims import Turns, held
from memories.services.claims import postpone as put_back
from memories.services.searched_model import ActiveModel as ActiveModel
from memories.services.searched_model import active_model as active_model
from memories.services.searched_model import complete_models, note_problem
from spaces.isolation import bound, every_space

logger = logging.getLogger(__name__)

# Longer memories are embedded in the background: at most about two seconds of the local model in the request.
MAXIMUM_CHUNKS_INLINE = 8
# Debts that one space may have worked off before it is another one's turn, and passages in one call of the provider.
BATCH = 16

_turns: defaultdict[int, Turns] = defaultdict(Turns)


def model_or_none() -> ActiveModel | None:
    """The model that is searched by, or None while it cannot be loaded: then the sweep owes the embeddings later."""
    try:
        return active_model()
    except ProviderUnavailable:
        return None


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


def embed_pending() -> int:
    """Work off one batch of debts that are due, of the space whose turn it is; returns how many were settled.

    Those of the model that is searched by come first; `backfill` does those of a model that is filled. Safe to run in
    several processes. A failure that concerns the provider puts the whole batch back; one that concerns a single text
    sets only that text's debt aside.
    """
    for model in complete_models():
        rows = PendingEmbedding.objects.select_related("memory").filter(model_id=model.row_id)
        claimed = [row for row in _turns[model.row_id].claim(rows, limit=BATCH) if isinstance(row, PendingEmbedding)]
        with held(claimed):
            settled = work_off(claimed, model)
        if settled:
            return settled
    return 0


def work_off(claimed: Sequence[PendingEmbedding], model: ActiveModel) -> int:
    """Embed claimed debts in as few calls as their length allows; returns how many were settled."""
    settled = 0
    waiting = [(row, split_passages(row.memory.embedded_text, model.embedder.spec)) for row in claimed]
    while waiting:
        batch = [waiting.pop(0)]
        while waiting and sum(len(chunks) for _, chunks in [*batch, waiting[0]]) <= BATCH:
            batch.append(waiting.pop(0))
        try:
            vectors = iter(model.embedder.embed_passages([chunk for _, chunks in batch for chunk in chunks]))
        except ProviderUnavailable as error:
            if error.concerns_every_call:
                for row, _ in [*batch, *waiting]:
                    _put_back(row, error)
                return settled
            if len(batch) == 1:
                _put_back(batch[0][0], error)
            else:
                # One of them is refused; alone, each finds out by itself.
                settled += sum(work_off([row], model) for row, _ in batch)
            continue
        for row, chunks in batch:
            settled += settle(row.memory, model, [next(vectors) for _ in chunks])
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


def postpone(memory: Memory, model_id: int, error: ProviderUnavailable) -> None:
    """Note why a memory could not be embedded, and when to try again."""
    with bound(memory.space_id):
        row = PendingEmbedding.objects.filter(memory_id=memory.id, model_id=model_id).first()
    if row is not None:
        _put_back(row, error)


def _put_back(row: PendingEmbedding, error: ProviderUnavailable) -> None:
    logger.warning("embedding memory %s was postponed: %s", row.memory_id, error.message)
    is_refused = error.permanent and not error.concerns_every_call
    if error.permanent and not is_refused:
        note_problem(row.model_id, error.message)
    put_back(row, error.message, permanent=error.permanent, gives_up=is_refused)
