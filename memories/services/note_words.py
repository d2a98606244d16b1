"""Keeping a note findable: its words are indexed anew when they change, and its meaning is owed anew."""

from documents.models import Stage
from memories.models import Memory
from memories.services.embeddings import ActiveModel, owe_embedding, remove_embeddings
from memories.services.save import embed_now_or_later
from memories.services.statements import term_context
from memories.services.terms import add_terms, note_terms, remove_terms


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
    return embed_now_or_later(memory, model) is Stage.DONE
