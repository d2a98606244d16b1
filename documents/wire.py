"""Documents on the wire."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from core.errors import Invalid
from core.paging import Page
from core.text import excerpt
from core.wire import ANSWER_BUDGET, Moment, WireModel
from documents.models import Attributed, Document, Stage, Status


def authorship(row: Attributed) -> dict[str, Any]:
    """Author and last changer by id and name; both were joined by the query that read the row."""
    return {
        "created_by_user_id": row.created_by_id,
        "created_by": row.created_by.display_name if row.created_by else None,
        "updated_by_user_id": row.updated_by_id,
        "updated_by": row.updated_by.display_name if row.updated_by else None,
    }


StageName = Literal["Off", "Pending", "Done", "Nothing", "Failed"]


class WireStages(WireModel):
    """How far each step of processing has come; a step that a document does not have is left out."""

    stored: StageName
    extracted: StageName | None = None
    embedded: StageName | None = None

    @classmethod
    def of(cls, extraction: Stage | Literal[""], embedding: Stage | None) -> "WireStages":
        """Of a stored text."""
        return cls(
            stored=Stage.DONE.wire,
            extracted=extraction.wire if extraction else None,
            embedded=embedding.wire if embedding else None,
        )


class WireDocument(WireModel):
    """A document without its content; `reason` tells why its processing has not come to the usual end."""

    id: UUID
    title: str
    doc_type: str
    status: Literal["Pending", "Processed", "Failed"]
    reason: str | None = None
    summary: str | None = None
    summary_truncated: bool | None = None
    created_at: Moment
    updated_at: Moment
    created_by_user_id: UUID | None = None
    created_by: str | None = None
    updated_by_user_id: UUID | None = None
    updated_by: str | None = None

    @classmethod
    def of(cls, document: Document) -> "WireDocument":
        return cls(**_fields(document))


class WireDocumentDetail(WireDocument):
    """A document with its content, or with the part of it that begins at the asked offset.

    `content_length` counts the characters of the whole; `next_offset` is there when more follows. `memory_ids` are
    those that a saved text became.
    """

    stages: WireStages
    memory_ids: list[UUID] | None = None

    raw_content: str | None = None
    content_length: int
    next_offset: int | None = None

    @classmethod
    def of(cls, document: Document, *, offset: int = 0, maximum: int | None = None) -> "WireDocumentDetail":
        """The content from `offset` on, at most `maximum` characters of it. Raises `Invalid` past its end."""
        content = document.raw_content
        if not 0 <= offset <= len(content):
            raise Invalid(f"offset must be between 0 and {len(content)}, the length of this document.")
        end = len(content) if maximum is None else min(offset + maximum, len(content))
        return cls(
            **_fields(document),
            stages=WireStages.of(Stage(document.extraction) if document.extraction else "", document.embedding),
            memory_ids=document.outcome["memories"] if document.outcome else None,
            raw_content=content[offset:end],
            content_length=len(content),
            next_offset=end if end < len(content) else None,
        )


def listed(documents: Sequence[Document]) -> list[WireDocument]:
    """A page of documents, each with its fair share of what clients take of summaries; one by itself shows all."""
    items = [WireDocument.of(document) for document in documents]
    for item in items:
        if item.summary and len(item.summary) > ANSWER_BUDGET // len(items):
            item.summary = excerpt(item.summary, ANSWER_BUDGET // len(items))
            item.summary_truncated = True
    return items


class WireDocumentPage(WireModel):
    """One page of documents; `page` and `limit` are the values used."""

    items: list[WireDocument]
    page: int
    limit: int
    total_count: int

    @classmethod
    def of(cls, page: Page[Document]) -> "WireDocumentPage":
        return cls(
            items=listed(page.items),
            page=page.page,
            limit=page.limit,
            total_count=page.total_count,
        )


def _fields(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "doc_type": document.doc_type,
        "status": Status(document.status).wire,
        "reason": document.reason or None,
        "summary": document.summary,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        **authorship(document),
    }
