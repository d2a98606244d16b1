"""Asking for another try: of single pieces of work, or of everything that failed."""

from django.db import transaction

from documents.models import Document, PendingDocument, Stage, Status
from memories.jobs import failed
from memories.models import PendingEmbedding
from memories.services.claims import retry
from memories.services.queue import request_embedding, request_processing
from spaces.access import AccessContext
from spaces.isolation import bound
from spaces.models import AccessLevel, SpaceOwnedQuerySet


def retry_documents(rows: SpaceOwnedQuerySet) -> int:
    """Make documents due now, within the caller's binding; returns how many. Those that run stay as they are."""
    documents = Document.objects.filter(id__in=rows.values("document_id"), status=Status.FAILED)
    documents.update(status=Status.PENDING, extraction=Stage.PENDING)
    number = retry(rows)
    transaction.on_commit(lambda: [request_processing() for _ in range(min(number, _MOST_MESSAGES))])
    return number


def retry_embeddings(rows: SpaceOwnedQuerySet) -> int:
    """As `retry_documents`, for embeddings that are owed."""
    number = retry(rows)
    request_embedding()
    return number


def retry_failed(access: AccessContext, *, container_tag: str | None = None) -> int:
    """Try again everything that failed in one space, or in all that the caller may write to; returns how much.

    Raises `NotFound` and `AccessDenied` for the space.
    """
    if container_tag is not None:
        ids = [access.space(container_tag, AccessLevel.READ_WRITE).id]
    else:
        ids = [space.id for space in access.spaces if space.level >= AccessLevel.READ_WRITE]
    with bound(ids):
        documents = PendingDocument.objects.filter(failed(), space_id__in=ids)
        embeddings = PendingEmbedding.objects.filter(failed(), space_id__in=ids)
        return retry_documents(documents) + retry_embeddings(embeddings)


# One message a document; what waits beyond these is found by the periodic work.
_MOST_MESSAGES = 100
