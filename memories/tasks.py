"""Background work, run by the Celery worker. Every task may run twice, or in two workers, without harm."""

from celery import shared_task

from accounts.services.idempotency import forget_old_calls
from memories.search.index import maintain_indexes
from memories.services.backfill import models_to_tend, tend
from memories.services.embeddings import embed_pending, owe_missing
from memories.services.pipeline import process_next
from memories.services.reindex import reindex_outdated, reindex_words
from spaces.models import Space


@shared_task
def embed_owed() -> int:
    """Embed what is owed and due; asks for another round while there is more."""
    settled = embed_pending()
    if settled:
        embed_owed.delay()
    return settled


@shared_task
def tend_embedding_model(model_id: int) -> None:
    """Fill an embedding model for a while, or remove it, as its state says; asks for the next round if there is one."""
    pause = tend(model_id)
    if pause is not None:
        tend_embedding_model.apply_async((model_id,), countdown=pause)


@shared_task
def process_documents() -> bool:
    """Process the document whose turn it is, whichever one the message was sent for."""
    return process_next()


@shared_task
def adopt() -> None:
    """Take up what lost its message or its process, and what is due again."""
    if process_next():
        adopt.delay()
    embed_owed.delay()


@shared_task
def sweep() -> None:
    """Find memories that lost their place in the queue, or never had one, and embed them."""
    for model_id in models_to_tend():
        tend_embedding_model.delay(model_id)
    owe_missing()
    forget_old_calls()
    embed_owed()


@shared_task
def maintain_search_indexes() -> list[str]:
    """Build the vector indexes that large spaces need, and drop those that nothing uses any more."""
    return maintain_indexes()


@shared_task
def reindex_space(space_id: str) -> int:
    """Build the word index of a space anew, unless the space is gone."""
    space = Space.objects.filter(id=space_id).first()
    return reindex_words(space) if space is not None else 0


@shared_task
def reindex_outdated_words() -> int:
    """After an update that cuts words otherwise: build the word indexes of the spaces that are not done yet."""
    return reindex_outdated()
