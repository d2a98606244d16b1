"""Undo: what a commit, a person, a key or a stretch of time has changed is taken back by one new commit.

plan = plan_undo(access, project="geb", person="agent@example.org", since=yesterday)   # changes nothing
undo(access, project="geb", person="agent@example.org", since=yesterday)               # does what the plan said

Each memory goes back to what it said before the first of the chosen commits that touched it. A memory that others have
changed since is a conflict: it is named, and it stays as it is.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError
from django.db.models import QuerySet

from accounts.models import MAXIMUM_EMAIL, MAXIMUM_LABEL
from core.errors import Conflict, Invalid, NotFound
from core.text import clean_line, excerpt, optional_line
from history import store
from history.diffs import FileDiff, unified
from history.models import Change, Commit
from history.queries import find_commit
from history.services.commits import lock
from history.trees import file_in
from memories.note_files import FileEntry, file_path, parse, render
from memories.services.embeddings import model_or_none
from memories.services.entries import Desk
from memories.services.file_changes import MemoryFile, changes_of
from memories.services.queue import request_embedding
from memories.services.record import entry_of, recorded_rows, recording
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel

# Commits taken back at once; more are undone in several steps, the newest first.
MAXIMUM_COMMITS = 1_000
MAXIMUM_MEMORIES = 2_000
_SHORT = 10
# Commits that the message of an undo names.
_MOST_NAMED = 50


@dataclass(frozen=True)
class UndoneMemory:
    """A memory that goes back. `diff` leads from what it says now to what it said then; `is_removed` says that it did
    not exist then, `is_brought_back` that it does not now."""

    id: uuid.UUID
    path: str
    diff: FileDiff
    is_removed: bool
    is_brought_back: bool


@dataclass(frozen=True)
class UndoConflict:
    """A memory that stays, and why."""

    id: uuid.UUID
    path: str
    reason: str


@dataclass(frozen=True)
class UndoPlan:
    """What an undo would do, or has done: `commit` is None for a plan, and where nothing was left to take back."""

    commits: Sequence[str]
    memories: Sequence[UndoneMemory]
    conflicts: Sequence[UndoConflict]
    commit: str | None = None


@dataclass
class _Timeline:
    """One memory in the chosen commits: its file before the first of them and after the last, as path and blob.

    `is_broken` says that other commits have changed it between them.
    """

    before: tuple[str, bytes] | None = None
    after: tuple[str, bytes] | None = None
    is_seen: bool = False
    is_broken: bool = False
    last: int = 0

    def step(self, sequence: int, gone: tuple[str, bytes] | None, come: tuple[str, bytes] | None) -> None:
        if not self.is_seen:
            self.before, self.is_seen = gone, True
        elif gone != self.after:
            self.is_broken = True
        self.after, self.last = come, sequence


def plan_undo(
    access: AccessContext,
    *,
    project: str | None,
    commits: Sequence[str] = (),
    person: str | None = None,
    key_label: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> UndoPlan:
    """What `undo` with the same choice would do now. Changes nothing.

    Commits are chosen by their ids, or by who made them (address of the person, label of the key) and when; all that is
    given must hold. Raises `NotFound` for the project and for commits that are not there, `Invalid` when nothing or too
    much is chosen.
    """
    space = access.space(project)
    with bound(space):
        chosen = _choose(space, commits, person, key_label, since, until)
        return _plan(space, chosen)[0]


def undo(
    access: AccessContext,
    *,
    project: str | None,
    commits: Sequence[str] = (),
    person: str | None = None,
    key_label: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    reason: str | None = None,
) -> UndoPlan:
    """Take the chosen commits back, in one commit of the caller; conflicts stay and are named. See `plan_undo`.

    Raises `AccessDenied` without the right to write, and `Conflict` when what should come back stands elsewhere now.
    """
    space = access.space(project, AccessLevel.READ_WRITE)
    reason = clean_line(reason, "reason", maximum=500, required=False)
    model = model_or_none()
    try:
        with bound(space):
            lock(space.id)
            chosen = _choose(space, commits, person, key_label, since, until)
            with recording(access, space.id, _message(chosen, reason)) as record:
                plan, entries = _plan(space, chosen)
                desk = Desk(access, space, record=record, model=model)
                # What goes makes room for what comes back.
                for memory in plan.memories:
                    if memory.is_removed:
                        desk.take_out(memory.id, reason=reason or "undone")
                for entry in entries:
                    desk.put(entry)
                for entry in entries:
                    desk.put_links(entry)
    except IntegrityError:
        raise Conflict("What was forgotten has been saved again in the meantime; nothing was undone.") from None
    request_embedding()
    made = record.made.oid if record.made else None
    return UndoPlan(plan.commits, plan.memories, plan.conflicts, made)


def _choose(
    space: SpaceAccess,
    commits: Sequence[str],
    person: str | None,
    key_label: str | None,
    since: datetime | None,
    until: datetime | None,
) -> list[Commit]:
    person = optional_line(person, "person", maximum=MAXIMUM_EMAIL)
    key_label = optional_line(key_label, "key_label", maximum=MAXIMUM_LABEL)
    if not (commits or person or key_label or since or until):
        raise Invalid("Say what to undo: commits, a person, a key, or a stretch of time.")
    rows: QuerySet[Commit] = Commit.objects.filter(space_id=space.id)
    if commits:
        rows = rows.filter(sequence__in=[find_commit(space.id, commit).sequence for commit in commits])
    if person:
        rows = rows.filter(author_email=person)
    if key_label:
        rows = rows.filter(key_label=key_label)
    if since is not None:
        rows = rows.filter(moment__gte=since)
    if until is not None:
        rows = rows.filter(moment__lte=until)
    found = list(rows.order_by("sequence")[: MAXIMUM_COMMITS + 1])
    if not found:
        raise NotFound("No commit of this project is meant by that.")
    if len(found) > MAXIMUM_COMMITS:
        raise Invalid(f"More than {MAXIMUM_COMMITS:,} commits are meant; choose a shorter stretch of time.")
    return found


def _plan(space: SpaceAccess, chosen: Sequence[Commit]) -> tuple[UndoPlan, list[FileEntry]]:
    timelines = _timelines(space, [commit.sequence for commit in chosen])
    if len(timelines) > MAXIMUM_MEMORIES:
        raise Invalid(f"More than {MAXIMUM_MEMORIES:,} memories were changed; choose fewer commits.")
    standing = _standing(space, list(timelines))
    wanted = [state[1] for line in timelines.values() for state in (line.before, line.after) if state is not None]
    bodies = store.read_bodies(space.id, wanted)
    memories: list[UndoneMemory] = []
    conflicts: list[UndoConflict] = []
    entries: list[FileEntry] = []
    for identifier, line in timelines.items():
        now = standing.get(identifier)
        path = (now or line.before or line.after or ("", b""))[0]
        expected = bodies[line.after[1]] if line.after else None
        if line.is_broken or (now[1] if now else None) != expected:
            conflicts.append(UndoConflict(identifier, path, _who_changed(space, path, line.last)))
            continue
        old = parse(bodies[line.before[1]], line.before[0]) if line.before else None
        old_text = bodies[line.before[1]].decode() if line.before else None
        if old_text == (now[1].decode() if now else None):
            continue
        diff = unified(path, now[1].decode() if now else None, old_text)
        memories.append(UndoneMemory(identifier, path, diff, is_removed=old is None, is_brought_back=now is None))
        if old is not None:
            entries.append(old)
    return UndoPlan([commit.oid.hex() for commit in chosen], memories, conflicts), entries


def _timelines(space: SpaceAccess, sequences: Sequence[int]) -> dict[uuid.UUID, _Timeline]:
    lines: dict[uuid.UUID, _Timeline] = {}
    for sequence in sequences:
        for change in changes_of(space, sequence):
            line = lines.setdefault(change.memory_id, _Timeline())
            line.step(sequence, _state(change.before), _state(change.after))
    return lines


def _state(file: MemoryFile | None) -> tuple[str, bytes] | None:
    return (file.path, file.blob) if file is not None else None


def _standing(space: SpaceAccess, ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, tuple[str, bytes]]:
    """Path and content of the files of those memories that are active now."""
    tree, read = store.read_head(space.id).tree, store.tree_reader(space.id)
    entries = {memory.id: entry_of(memory) for memory in recorded_rows(space.id, list(ids)) if memory.is_active}
    blobs = {identifier: file_in(read, tree, file_path(entry)) for identifier, entry in entries.items()}
    bodies = store.read_bodies(space.id, [blob for blob in blobs.values() if blob is not None])
    found: dict[uuid.UUID, tuple[str, bytes]] = {}
    for identifier, entry in entries.items():
        blob = blobs[identifier]
        found[identifier] = (file_path(entry), bodies[blob] if blob is not None else render(entry))
    return found


def _who_changed(space: SpaceAccess, path: str, after: int) -> str:
    later = Change.objects.filter(space_id=space.id, path=path, sequence__gt=after).order_by("-sequence").first()
    commit = Commit.objects.filter(space_id=space.id, sequence=later.sequence).first() if later else None
    if commit is None:
        return "It was changed in between by commits that are not undone."
    return f"{commit.author_name} changed it afterwards, in commit {commit.oid.hex()[:_SHORT]}."


def _message(chosen: Sequence[Commit], reason: str) -> str:
    subject = f"Undo “{_subject(chosen[0])}”" if len(chosen) == 1 else f"Undo {len(chosen)} commits"
    lines = [f"{commit.oid.hex()[:_SHORT]} {_subject(commit)}" for commit in chosen[:_MOST_NAMED]]
    return "\n\n".join(part for part in (subject, reason, "\n".join(lines)) if part)


def _subject(commit: Commit) -> str:
    return excerpt(commit.message.partition("\n")[0], 80)
