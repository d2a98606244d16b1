"""Saving: the caller's words are stored in one transaction, verbatim, before any provider is asked.

saved = save_memory(access, content="The office closes at six.", category="office")
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError
from django.utils import timezone

from core.errors import ProviderUnavailable
from core.text import clean_line, clean_text, excerpt, optional_line
from documents.models import Document, Status
from memories.embedding.service import split_passages
from memories.models import MAXIMUM_CATEGORY, MAXIMUM_MEMORY, MAXIMUM_SOURCE, Memory
from memories.services.embeddings import MAXIMUM_CHUNKS_INLINE, ActiveModel, active_model, embed_memory, owe_embedding
from memories.services.queue import request_embedding
from memories.services.record import recording
from memories.services.terms import add_terms
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel

# A saved memory's document is titled with the beginning of its text.
DERIVED_TITLE = 80


@dataclass(frozen=True)
class Saved:
    """What a save did. `duplicate` says that the space knew it already; `embedded` is False while search by meaning
    cannot find it yet."""

    memory: Memory
    space: SpaceAccess
    duplicate: bool
    embedded: bool


def save_memory(
    access: AccessContext,
    *,
    content: str,
    category: str | None = None,
    source: str | None = None,
    container_tag: str | None = None,
) -> Saved:
    """Remember `content` as it is, with the `note` document it came from.

    Raises `Invalid` for blank or over-long input, `NotFound` and `AccessDenied` for the space.
    """
    text = clean_text(content, "content", maximum=MAXIMUM_MEMORY)
    space = access.space(container_tag, AccessLevel.READ_WRITE)
    category = optional_line(category, "category", maximum=MAXIMUM_CATEGORY)
    source = optional_line(source, "source", maximum=MAXIMUM_SOURCE)
    model = _model_or_none()
    digest = content_hash(text, category)
    try:
        with recording(access, space.id, "Save a memory") as record:
            memory = _store(access, space, text, category, source, digest, model)
            record.created(memory.id)
    except IntegrityError:
        # Only another save of the same statement can be in the way; when it is, it is the answer.
        with bound(space):
            existing = Memory.objects.in_space(space).active().filter(content_hash=digest).first()
            if existing is None:
                raise
            embedded = not existing.pending_embeddings.exists()
        return Saved(memory=existing, space=space, duplicate=True, embedded=embedded)
    return Saved(memory=memory, space=space, duplicate=False, embedded=_embed_now_or_later(memory, model))


def content_hash(text: str, category: str | None) -> bytes:
    """What makes two active memories of a space the same statement: SHA-256 of category and text."""
    return hashlib.sha256(f"{category or ''}\x00{text}".encode()).digest()


def term_context(author: str, moment: datetime) -> list[str]:
    """What is indexed with the words of a memory: who said it and when, which people name when they ask."""
    return [author, f"{moment:%d %B %Y}"]


def _model_or_none() -> ActiveModel | None:
    try:
        return active_model()
    except ProviderUnavailable:
        # Stored without a debt; the sweep owes the embedding as soon as the engine can be loaded.
        return None


def _store(
    access: AccessContext,
    space: SpaceAccess,
    text: str,
    category: str | None,
    source: str | None,
    digest: bytes,
    model: ActiveModel | None,
) -> Memory:
    now = timezone.now()
    attribution = {
        "created_by_id": access.user_id,
        "updated_by_id": access.user_id,
        "created_by_key_id": access.credential.id,
        "created_via": access.credential.surface,
        "created_at": now,
        "updated_at": now,
    }
    document = Document(
        space_id=space.id,
        title=excerpt(clean_line(text, "title", maximum=MAXIMUM_MEMORY), DERIVED_TITLE + 1),
        doc_type="note",
        status=Status.PROCESSED,
        raw_content=text,
        **attribution,
    )
    memory = Memory(
        space_id=space.id,
        document=document,
        text=text,
        category=category,
        source=source,
        content_hash=digest,
        **attribution,
    )
    document.save(force_insert=True)
    memory.save(force_insert=True)
    owe_embedding(memory, model)
    add_terms(memory, space.language, term_context(access.display_name, now))
    return memory


def _embed_now_or_later(memory: Memory, model: ActiveModel | None) -> bool:
    if model is None:
        return False
    chunks = split_passages(memory.text, model.embedder.spec)
    if len(chunks) <= MAXIMUM_CHUNKS_INLINE and embed_memory(memory, model, chunks):
        return True
    request_embedding()
    return False
