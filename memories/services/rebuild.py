"""Rebuilding a space from a clone of its history alone: memories, what was forgotten, versions, topics and links.

made = rebuild_space(access, space, Path("team.git"))
"""

import uuid
from dataclasses import dataclass
from pathlib import Path

from core.errors import Conflict
from history.models import Commit
from history.services.commits import SURFACE_TRAILER
from history.services.imports import read_clone, store_clone
from memories.models import Memory, Version
from memories.services.embeddings import model_or_none
from memories.services.entries import Desk
from memories.services.file_changes import MemoryChange, changes_of
from memories.services.verify import follow_tree
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound


@dataclass(frozen=True)
class Rebuilt:
    """How much was rebuilt; `forgotten` are memories that the history knows of, but its newest commit does not have."""

    commits: int
    memories: int
    forgotten: int
    versions: int


def rebuild_space(access: AccessContext, space: SpaceAccess, source: Path) -> Rebuilt:
    """Fill an empty space from a clone. The commits keep their ids; people are those whose addresses are known here.

    Raises `Conflict` when the space is not empty, `Invalid` for what is no history of a space.
    """
    clone = read_clone(source)
    model = model_or_none()
    with bound(space):
        if Memory.objects.in_space(space).exists():
            raise Conflict(f"Space “{space.key}” has memories; only an empty space is rebuilt.")
        commits = store_clone(space.id, clone)
        follow_tree(access, space, model)
        Version.objects.in_space(space).delete()
        forgotten, versions = _past(access, space)
        memories = Memory.objects.in_space(space).active().count()
    return Rebuilt(commits, memories, forgotten, versions)


def _past(access: AccessContext, space: SpaceAccess) -> tuple[int, int]:
    """The versions that the commits tell of, and the memories that are there no more."""
    desk = Desk(access, space, keeps_attribution=True)
    known = set(Memory.objects.in_space(space).values_list("id", flat=True))
    newest: dict[uuid.UUID, int] = {}
    gone: dict[uuid.UUID, tuple[MemoryChange, Commit]] = {}
    versions: list[Version] = []
    for commit in Commit.objects.filter(space_id=space.id).order_by("sequence"):
        for change in changes_of(space, commit.sequence):
            if change.after is None:
                gone[change.memory_id] = (change, commit)
            else:
                gone.pop(change.memory_id, None)
            version = _version(desk, space, commit, change, newest.get(change.memory_id, 0))
            if version is not None:
                newest[change.memory_id] = version.number
                versions.append(version)
    for identifier, (change, commit) in gone.items():
        if identifier not in known and change.before is not None:
            desk.put_forgotten(change.before.entry, newest[identifier], commit.author_email, commit.moment)
    Version.objects.bulk_create(versions, batch_size=1000)
    return len(gone.keys() - known), len(versions)


def _version(desk: Desk, space: SpaceAccess, commit: Commit, change: MemoryChange, newest: int) -> Version | None:
    """The version that a commit made of a memory; None when it only changed links or sources."""
    file = change.after or change.before
    if file is None:
        return None
    number = file.entry.version if change.after is not None else newest + 1
    if number <= newest:
        return None
    return Version(
        space_id=space.id,
        memory_id=change.memory_id,
        number=number,
        title=file.entry.title,
        text=file.entry.text if file.entry.title is not None else None,
        path=change.after.path if change.after is not None else "",
        commit=commit.oid.hex(),
        created_by_id=desk.person(f"<{commit.author_email}>"),
        created_via=commit.trailers.get(SURFACE_TRAILER, "command")[:20],
        created_at=commit.moment,
    )
