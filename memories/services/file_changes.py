"""What commits did to each memory: told by the id in its file, so that a renamed note is one memory."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from core.errors import Invalid
from history import store
from history.models import Change
from memories.note_files import TOPIC_FILE, FileEntry, parse
from spaces.access import SpaceAccess


@dataclass(frozen=True)
class MemoryFile:
    """A memory's file in a commit."""

    path: str
    blob: bytes
    entry: FileEntry


@dataclass(frozen=True)
class MemoryChange:
    """A memory that a commit changed: its file before and after; None where there was none."""

    memory_id: uuid.UUID
    before: MemoryFile | None
    after: MemoryFile | None


def changes_of(space: SpaceAccess, sequence: int) -> list[MemoryChange]:
    """The memories that a commit changed. Files that are no memories are passed over. Two queries."""
    rows: QuerySet[Any] = Change.objects.filter(space_id=space.id, sequence=sequence).order_by("path")
    changes = [change for change in rows if not change.path.endswith("/" + TOPIC_FILE)]
    blobs = [bytes(oid) for change in changes for oid in (change.previous, change.blob) if oid is not None]
    bodies = store.read_bodies(space.id, blobs)
    before: dict[uuid.UUID, MemoryFile] = {}
    after: dict[uuid.UUID, MemoryFile] = {}
    for change in changes:
        for oid, side in ((change.previous, before), (change.blob, after)):
            file = _file(change.path, bytes(oid), bodies[bytes(oid)]) if oid is not None else None
            if file is not None and file.entry.id is not None:
                side[file.entry.id] = file
    ids = dict.fromkeys([*before, *after])
    return [MemoryChange(identifier, before.get(identifier), after.get(identifier)) for identifier in ids]


def _file(path: str, blob: bytes, body: bytes) -> MemoryFile | None:
    try:
        return MemoryFile(path, blob, parse(body, path))
    except Invalid:
        return None
