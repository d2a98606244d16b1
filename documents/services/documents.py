"""Creating documents from text, or from the text of a file."""

import uuid

from django.utils import timezone

from core.database import release_connection
from core.text import clean_line, clean_text
from documents.extraction import extract_text
from documents.models import (
    MAXIMUM_CONTENT,
    MAXIMUM_DOC_TYPE,
    MAXIMUM_SUMMARY,
    MAXIMUM_TITLE,
    Document,
    Status,
)
from spaces.access import AccessContext
from spaces.isolation import bound
from spaces.models import AccessLevel

# A PDF of 20 MB as base64, with its data URL prefix and line breaks; the extraction checks the decoded size.
_MAXIMUM_ENCODED = 29_000_000


def create_document(
    access: AccessContext,
    *,
    title: str,
    doc_type: str,
    content: str,
    summary: str | None = None,
    container_tag: str | None = None,
    document_id: uuid.UUID | None = None,
) -> Document:
    """Store a document; of a PDF (base64) the text is read and stored, never the bytes. Makes no memories.

    `document_id` makes the call repeatable: what was stored under it is given back.

    Raises `Invalid` for bad input or a file that cannot be read, `NotFound` and `AccessDenied` for the space.
    """
    title = clean_line(title, "title", maximum=MAXIMUM_TITLE)
    doc_type = clean_line(doc_type, "docType", maximum=MAXIMUM_DOC_TYPE)
    summary = clean_text(summary, "summary", maximum=MAXIMUM_SUMMARY, required=False) or None
    is_file = doc_type.lower() == "pdf"
    content = clean_text(content, "content", maximum=_MAXIMUM_ENCODED if is_file else MAXIMUM_CONTENT)
    space = access.space(container_tag, AccessLevel.READ_WRITE)
    # Reading a file takes seconds, in which others need the connection more.
    release_connection()
    text = extract_text(doc_type, content)
    now = timezone.now()
    identifier = document_id or uuid.uuid4()
    with bound(space):
        stored: Document | None = Document.objects.in_space(space).filter(id=identifier).first()
        return stored or Document.objects.create(
            id=identifier,
            space_id=space.id,
            title=title,
            doc_type=doc_type.lower() if is_file else doc_type,
            status=Status.PROCESSED,
            summary=summary,
            raw_content=text,
            created_by_id=access.user_id,
            updated_by_id=access.user_id,
            created_by_key_id=access.credential.id,
            created_via=access.credential.surface,
            created_at=now,
            updated_at=now,
        )
