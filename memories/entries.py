"""One entry by its id, note or fact, as it is or as it was: what an answer of any search leads to."""

from dataclasses import dataclass, replace

from core.errors import Invalid, NotFound
from core.text import clean_uuid
from memories.models import Memory
from memories.notes import Note, named, note_of, note_version
from memories.queries import locate_memory
from memories.services.note_fields import Source
from spaces.access import AccessContext
from spaces.isolation import bound


@dataclass(frozen=True)
class Fact:
    """A memory that is no note, with the names of its people and what it comes from."""

    memory: Memory
    project: str
    sources: tuple[Source, ...]


def read_entry(access: AccessContext, entry_id: object, *, version: int | None = None) -> Note | Fact:
    """A note that is not deleted, or a fact, forgotten or not; with `version`, what a note said then, deleted or not.

    Five queries at most. Raises `Invalid` and `NotFound`.
    """
    located, space = locate_memory(access, clean_uuid(entry_id, "entry_id"))
    if not located.is_note and version is not None:
        raise Invalid("version can only be given for a note: the text of a fact never changes.")
    if located.is_note and version is None and not located.is_active:
        raise NotFound(f"Note {located.id} was not found or is not accessible with this key.")
    with bound(space):
        memory = named(Memory.objects.in_space(space)).filter(id=located.id).first()
        if memory is None:
            raise NotFound(f"Memory {located.id} was deleted a moment ago.")
        if not memory.is_note:
            return Fact(memory, space.key, tuple(Source(row.type, row.ref) for row in memory.sources.all()))
        note = note_of(memory, space)
    if version is None:
        return note
    old = note_version(access, note.id, version)
    return replace(
        note,
        title=old.title or note.title,
        topic=old.topic or note.topic,
        text=old.text or "",
        version=old.number,
        updated_at=old.created_at,
        updated_by=old.created_by,
    )
