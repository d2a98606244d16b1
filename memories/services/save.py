"""Saving: the caller's words are stored in one transaction, verbatim, before any provider is asked.

saved = save_memory(access, content="The office closes at six.", category="office")

Without an extractor the words themselves become one memory, in the same transaction. With one, the words wait as a
document until they have been split into facts (`memories.services.pipeline`), and the caller waits with them for a
while.
"""

import uuid

from django.db import IntegrityError
from django.utils import timezone

from core.errors import Invalid
from core.text import clean_text, optional_line
from documents.models import Document, PendingDocument, Stage, Status
from memories.embedding.service import split_passages
from memories.extraction.service import extraction_is_on
from memories.models import MAXIMUM_CATEGORY, MAXIMUM_MEMORY, MAXIMUM_SOURCE, Memory
from memories.services.embeddings import (
    MAXIMUM_CHUNKS_INLINE,
    ActiveModel,
    embed_memory,
    model_or_none,
    owe_embedding,
)
from memories.services.handover import hand_over
from memories.services.outcome import Outcome, Saved, embedding_stage, read_saved
from memories.services.queue import request_embedding
from memories.services.record import recording
from memories.services.statements import content_hash, new_memory, new_note, term_context
from memories.services.terms import add_terms
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel

# Seconds that a caller waits for the result, unless it says otherwise, and at most.
DEFAULT_WAIT = 20
LONGEST_WAIT = 60


def save_memory(
    access: AccessContext,
    *,
    content: str,
    category: str | None = None,
    source: str | None = None,
    container_tag: str | None = None,
    wait: int = DEFAULT_WAIT,
    document_id: uuid.UUID | None = None,
) -> Saved:
    """Remember `content`: verbatim as its `note` document, and as one memory, or as the facts an extractor finds in it.

    Waits up to `wait` seconds for the extractor; what it has not done by then goes on, and the result says so.
    `document_id` makes the call repeatable: saved once, it gives what became of it.

    Raises `Invalid` for blank or over-long input, `NotFound` and `AccessDenied` for the space.
    """
    text = clean_text(content, "content", maximum=MAXIMUM_MEMORY)
    space = access.space(container_tag, AccessLevel.READ_WRITE)
    category = optional_line(category, "category", maximum=MAXIMUM_CATEGORY)
    source = optional_line(source, "source", maximum=MAXIMUM_SOURCE)
    if not 0 <= wait <= LONGEST_WAIT:
        raise Invalid(f"wait must be between 0 and {LONGEST_WAIT} seconds, not {wait}.")
    text_to_save = _Text(text, category, source, document_id or uuid.uuid4())
    try:
        if not extraction_is_on():
            return _save_verbatim(access, space, text_to_save)
        known = _known(space, text, category)
        if known is not None:
            return known
        _store_pending(access, space, text_to_save)
    except IntegrityError:
        # Only the same statement, or the same call, can be in the way; when it is, it is the answer.
        again = _saved_before(space, text_to_save)
        if again is None:
            raise
        return again
    hand_over(space, text_to_save.document_id, wait=wait)
    return read_saved(space, text_to_save.document_id)


class _Text:
    """A text to be saved, with what the caller said about it."""

    def __init__(self, text: str, category: str | None, source: str | None, document_id: uuid.UUID) -> None:
        self.text = text
        self.category = category
        self.source = source
        self.document_id = document_id


def _save_verbatim(access: AccessContext, space: SpaceAccess, said: _Text) -> Saved:
    model = model_or_none()
    now = timezone.now()
    with recording(access, space.id, "Save a memory") as record:
        document = new_note(
            access, space.id, said.text, now, id=said.document_id, status=Status.PROCESSED, extraction=Stage.OFF
        )
        memory = new_memory(access, document, said.text, now, category=said.category, source=said.source)
        document.save(force_insert=True)
        memory.save(force_insert=True)
        owe_embedding(memory, model)
        add_terms(memory, space.language, term_context(access.display_name, now))
        record.created(memory.id)
    return Saved(
        space=space,
        document_id=document.id,
        status=Status.PROCESSED,
        extraction=Stage.OFF,
        embedding=embed_now_or_later(memory, model),
        memories=[memory],
        outcome=Outcome(memories=(memory.id,)),
    )


def _store_pending(access: AccessContext, space: SpaceAccess, said: _Text) -> None:
    now = timezone.now()
    with bound(space):
        document = new_note(
            access, space.id, said.text, now, id=said.document_id, status=Status.PENDING, extraction=Stage.PENDING
        )
        document.save(force_insert=True)
        PendingDocument.objects.create(
            space_id=space.id, document=document, category=said.category, source=said.source, created_at=now
        )


def embed_now_or_later(memory: Memory, model: ActiveModel | None) -> Stage:
    """Embed a stored memory at once, or leave it to the worker when it is long or its provider does not answer."""
    if model is None:
        return Stage.OFF
    chunks = split_passages(memory.embedded_text, model.embedder.spec)
    if len(chunks) <= MAXIMUM_CHUNKS_INLINE and embed_memory(memory, model, chunks):
        return Stage.DONE
    request_embedding()
    return Stage.PENDING


def _saved_before(space: SpaceAccess, said: _Text) -> Saved | None:
    with bound(space):
        is_repeated = Document.objects.in_space(space).filter(id=said.document_id).exists()
    return read_saved(space, said.document_id) if is_repeated else _known(space, said.text, said.category)


def _known(space: SpaceAccess, text: str, category: str | None) -> Saved | None:
    """The answer to a save of what an active memory says already, word for word."""
    with bound(space):
        digest = content_hash(text, category)
        memory: Memory | None = Memory.objects.in_space(space).facts().filter(content_hash=digest).first()
        if memory is None:
            return None
        return Saved(
            space=space,
            document_id=memory.document_id,
            status=Status.PROCESSED,
            extraction=Stage.OFF,
            embedding=embedding_stage(space, [memory.id]) or Stage.OFF,
            memories=[memory],
            outcome=Outcome(memories=(memory.id,), known=1),
        )
