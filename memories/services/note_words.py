"""Keeping a note findable: its words are indexed anew when they change, and its meaning is owed anew."""

from core.errors import ProviderUnavailable
from memories.embedding.service import split_passages
from memories.models import Memory
from memories.services.embeddings import (
    MAXIMUM_CHUNKS_INLINE,
    ActiveModel,
    active_model,
    embed_memory,
    owe_embedding,
    remove_embeddings,
)
from memories.services.queue import request_embedding
from memories.services.statements import term_context
from memories.services.terms import add_terms, note_terms, remove_terms


def usable_model() -> ActiveModel | None:
    """The model whose embedding is owed; None while it cannot be loaded, when the sweep owes it later."""
    try:
        return active_model()
    except ProviderUnavailable:
        return None


def index_anew(memory: Memory, language: str) -> None:
    """Put the words of an active note, as its row now stands, in the place of those it had."""
    remove_terms(memory.space_id, [memory])
    index(memory, language)


def index(memory: Memory, language: str) -> None:
    """Index the words of a note that has none indexed."""
    author = memory.created_by.display_name if memory.created_by else ""
    add_terms(memory, language, [*term_context(author, memory.created_at), *note_terms(memory)])


def embed_anew(memory: Memory, model: ActiveModel | None) -> None:
    """Drop the vectors of what a note said before, and owe those of what it says now."""
    remove_embeddings(memory.space_id, [memory])
    owe_embedding(memory, model)


def embed_soon(memory: Memory, model: ActiveModel | None) -> bool:
    """After the transaction: embed a short note at once and leave a long one to the worker; whether it is done."""
    if model is None:
        return False
    chunks = split_passages(memory.embedded_text, model.embedder.spec)
    if len(chunks) <= MAXIMUM_CHUNKS_INLINE and embed_memory(memory, model, chunks):
        return True
    request_embedding()
    return False
