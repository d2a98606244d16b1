"""What can be asked about documents: lists, and one by id."""

from django.db.models import Count, Q

from core.errors import NotFound
from core.paging import CursorPage, Page, keyset_page, numbered_page
from core.text import clean_uuid
from documents.models import Document, Stage, Status
from spaces.access import AccessContext
from spaces.isolation import bound
from spaces.models import SpaceOwnedQuerySet


def _summaries(rows: SpaceOwnedQuerySet) -> SpaceOwnedQuerySet:
    """Without the content, which may be megabytes, and with the names of author and last changer."""
    return rows.defer("raw_content").select_related("created_by", "updated_by").order_by("-updated_at", "-id")


def list_documents(
    access: AccessContext, *, container_tag: str | None = None, page: int = 1, limit: int = 0
) -> Page[Document]:
    """All documents of a space, last changed first. Two queries."""
    space = access.space(container_tag)
    rows = Document.objects.in_space(space)
    with bound(space):
        return numbered_page(_summaries(rows), rows, page=page, limit=limit)


def list_documents_after(
    access: AccessContext, *, container_tag: str | None = None, cursor: str | None = None, limit: int = 0
) -> CursorPage[Document]:
    """As `list_documents`, read by cursor. One query. Raises `Invalid`."""
    space = access.space(container_tag)
    with bound(space):
        return keyset_page(
            _summaries(Document.objects.in_space(space)), moment="updated_at", cursor=cursor, limit=limit
        )


def get_document(access: AccessContext, document_id: object) -> Document:
    """One document with its content, and whether its memories are found by meaning. Two queries.

    Raises `NotFound`: the same for unknown ids and for other spaces'.
    """
    identifier = clean_uuid(document_id, "documentId")
    rows = Document.objects.in_any_space(access).select_related("created_by", "updated_by")
    with bound(access):
        document: Document | None = rows.filter(id=identifier).first()
        if document is not None:
            document.embedding = _embedding(document)
    if document is None:
        raise NotFound(f"Document {identifier} was not found or is not accessible with this key.")
    return document


def _embedding(document: Document) -> Stage | None:
    """How far the embedding of a document's memories by the model that is searched has come; None without memories."""
    embedded = Q(embeddings__model__state="searched")
    owed = Q(pending_embeddings__model__state="searched")
    counts = document.memories.filter(is_active=True).aggregate(
        all=Count("id", distinct=True),
        embedded=Count("id", filter=embedded, distinct=True),
        owed=Count("id", filter=owed, distinct=True),
        failed=Count("id", filter=owed & Q(pending_embeddings__failed_at__isnull=False), distinct=True),
    )
    if not counts["all"]:
        return Stage.PENDING if document.status == Status.PENDING else None
    if counts["embedded"] == counts["all"]:
        return Stage.DONE
    if counts["failed"]:
        return Stage.FAILED
    return Stage.PENDING if counts["owed"] else Stage.OFF
