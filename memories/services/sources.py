"""Sources of notes: a space knows each once. Told again for another note, it moves there, and the answer says so."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from memories.models import Memory, SourceRef
from memories.services.note_fields import Source
from memories.services.record import Record


@dataclass(frozen=True)
class Repointed:
    """A source that belonged to another note until now."""

    source: Source
    former_id: uuid.UUID
    former_title: str


def register_sources(record: Record | None, memory: Memory, sources: Sequence[Source]) -> tuple[bool, list[Repointed]]:
    """Make these sources those of `memory`, beside those it has; whether that changed anything, and what moved.

    Within a recording of the space, if there is one: then the file of a former owner is written anew.
    """
    if not sources:
        return False, []
    rows = SourceRef.objects.filter(
        space_id=memory.space_id, type__in={s.type for s in sources}, ref__in={s.ref for s in sources}
    ).select_related("memory")
    known = {Source(row.type, row.ref): row for row in rows}
    missing = [source for source in sources if source not in known]
    SourceRef.objects.bulk_create(
        SourceRef(space_id=memory.space_id, memory=memory, type=source.type, ref=source.ref) for source in missing
    )
    moved = []
    for source in sources:
        row = known.get(source)
        if row is None or row.memory_id == memory.id:
            continue
        if row.memory.is_active:
            moved.append(Repointed(source, row.memory_id, str(row.memory)))
            if record is not None:
                record.relinked(row.memory_id)
        SourceRef.objects.filter(id=row.id).update(memory=memory)
    return bool(missing or moved), moved
