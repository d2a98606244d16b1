"""What a stored statement is made of, whichever way it came in: who said it, what makes it the same as another."""

import hashlib
import uuid
from datetime import datetime
from typing import Any

from core.text import clean_line, excerpt
from documents.models import Document
from memories.models import MAXIMUM_MEMORY, Memory
from spaces.access import AccessContext

# A saved memory's document is titled with the beginning of its text.
DERIVED_TITLE = 80


def content_hash(text: str, category: str | None) -> bytes:
    """What makes two active memories of a space the same statement: SHA-256 of category and text."""
    return hashlib.sha256(f"{category or ''}\x00{text}".encode()).digest()


def term_context(author: str, moment: datetime) -> list[str]:
    """What is indexed with the words of a memory: who said it and when, which people name when they ask."""
    return [author, f"{moment:%d %B %Y}"]


def attribution(access: AccessContext, now: datetime) -> dict[str, Any]:
    """The fields that tell who made a row, with what, over which surface and when."""
    return {
        "created_by_id": access.user_id,
        "updated_by_id": access.user_id,
        "created_by_key_id": access.credential.id,
        "created_via": access.credential.surface,
        "created_at": now,
        "updated_at": now,
    }


def new_note(access: AccessContext, space_id: uuid.UUID, text: str, now: datetime, **fields: Any) -> Document:
    """The `note` document of a saved text, not stored yet."""
    return Document(
        space_id=space_id,
        title=excerpt(clean_line(text, "title", maximum=MAXIMUM_MEMORY), DERIVED_TITLE + 1),
        doc_type="note",
        raw_content=text,
        **attribution(access, now),
        **fields,
    )


def new_memory(
    access: AccessContext,
    document: Document,
    text: str,
    now: datetime,
    *,
    category: str | None,
    source: str | None,
) -> Memory:
    """A memory that a document says, not stored yet."""
    return Memory(
        space_id=document.space_id,
        document=document,
        text=text,
        category=category,
        source=source,
        content_hash=content_hash(text, category),
        **attribution(access, now),
    )
