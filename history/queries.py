"""Reading a space's history. Whoever asks has been found to have access to the space already.

    for entry in log(space.id, path="office/hours.md", limit=5):
        print(entry.moment, entry.author_name, entry.message)

Commits are named by their id, its first seven or more digits, or None for the newest.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from core.errors import Invalid, NotFound
from core.text import excerpt
from history import store
from history.diffs import FileDiff, opcodes, split_lines, unified
from history.models import Change, Commit
from history.paths import folder_range
from history.trees import FileChange, compare, file_in, files_of
from spaces.isolation import bound

DEFAULT_LIMIT = 20
MAXIMUM_LIMIT = 1000
# Files of one commit, or one comparison, that are named; the rest is counted.
MAXIMUM_CHANGES = 1000
# Files of one comparison that are shown line by line.
MAXIMUM_DIFFED_FILES = 100
# Changes of one file that blame looks back over.
MAXIMUM_REVISIONS = 1000
_REVISIONS_AT_ONCE = 20
_OID_PREFIX = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True)
class LogEntry:
    """One commit."""

    oid: str
    sequence: int
    author_name: str
    author_email: str
    key_label: str
    message: str
    trailers: Mapping[str, str]
    moment: datetime


@dataclass(frozen=True)
class ShownCommit:
    """A commit with the files it changed, the first thousand by path; `change_count` counts all."""

    entry: LogEntry
    changes: Sequence[FileChange]
    change_count: int


@dataclass(frozen=True)
class Difference:
    """How two commits differ, the first hundred files by path; `change_count` counts all."""

    files: Sequence[FileDiff]
    change_count: int


@dataclass(frozen=True)
class BlameLine:
    """A line of a file and the commit that brought it; where the file is older than blame looks, the oldest seen."""

    number: int
    text: str
    entry: LogEntry


def head(space_id: uuid.UUID) -> str | None:
    """The newest commit, or None in a space without any."""
    with bound(space_id):
        oid = store.read_head(space_id).oid
    return oid.hex() if oid is not None else None


def find_commit(space_id: uuid.UUID, commit: str | None = None) -> LogEntry:
    """Raises `NotFound` when there is no such commit, `Invalid` when the text is no id or means several."""
    with bound(space_id):
        return _entry(_row(space_id, commit))


def log(
    space_id: uuid.UUID, *, path: str | None = None, limit: int = DEFAULT_LIMIT, before: str | None = None
) -> list[LogEntry]:
    """Commits older than `before`, newest first: all, or those that changed what is at `path` (file or folder)."""
    limit = min(max(limit, 1), MAXIMUM_LIMIT)
    with bound(space_id):
        rows = Commit.objects.filter(space_id=space_id)
        if before is not None:
            rows = rows.filter(sequence__lt=_row(space_id, before).sequence)
        if path:
            rows = rows.filter(Exists(_changes_at(space_id, path).filter(sequence=OuterRef("sequence"))))
        return [_entry(row) for row in rows.order_by("-sequence")[:limit]]


def show(space_id: uuid.UUID, commit: str | None = None) -> ShownCommit:
    """A commit and what it changed."""
    with bound(space_id):
        row = _row(space_id, commit)
        changes = Change.objects.filter(space_id=space_id, sequence=row.sequence)
        named = [FileChange(c.path, c.previous, c.blob) for c in changes.order_by("path")[:MAXIMUM_CHANGES]]
        count = len(named) if len(named) < MAXIMUM_CHANGES else changes.count()
    return ShownCommit(_entry(row), named, count)


def diff(space_id: uuid.UUID, old: str | None, new: str | None = None, *, path: str | None = None) -> Difference:
    """What turns commit `old` into `new`, for all files or those at `path`. With `old` None: what `new` itself did."""
    with bound(space_id):
        after = _row(space_id, new)
        if old is None:
            base = after.sequence - 1
            before = Commit.objects.filter(space_id=space_id, sequence=base).first()
        else:
            before = _row(space_id, old)
        read = store.tree_reader(space_id)
        roots = [store.root_of(space_id, bytes(row.oid) if row is not None else None) for row in (before, after)]
        changes = [change for change in compare(read, *roots) if path is None or _is_at(change.path, path)]
        files = [_file_diff(space_id, change) for change in changes[:MAXIMUM_DIFFED_FILES]]
    return Difference(files, len(changes))


def file_at(space_id: uuid.UUID, commit: str | None, path: str) -> bytes:
    """A file's content in a commit. Raises `NotFound` when it was not there."""
    with bound(space_id):
        row = _row(space_id, commit)
        blob = file_in(store.tree_reader(space_id), store.root_of(space_id, bytes(row.oid)), path)
        if blob is None:
            raise NotFound(f"There is no file “{excerpt(path, 200)}” in commit {row.oid.hex()[:10]}.")
        return store.read_bodies(space_id, [blob])[blob]


def list_files(space_id: uuid.UUID, commit: str | None = None) -> dict[str, str]:
    """Path and blob id of every file in a commit; nothing in a space without commits."""
    with bound(space_id):
        if commit is None and store.read_head(space_id).oid is None:
            return {}
        root = store.root_of(space_id, bytes(_row(space_id, commit).oid))
        return {path: blob.hex() for path, blob in files_of(store.tree_reader(space_id), root)}


def blame(space_id: uuid.UUID, path: str, commit: str | None = None) -> list[BlameLine]:
    """Each line of a file with the commit that brought it. Raises `NotFound` when the file is not there."""
    lines = split_lines(file_at(space_id, commit, path).decode("utf-8", "replace"))
    with bound(space_id):
        revisions = _revisions(space_id, path, _row(space_id, commit).sequence)
        found = _blame(lines, revisions)
        rows = Commit.objects.filter(space_id=space_id, sequence__in=set(found))
        entries = {row.sequence: _entry(row) for row in rows}
    return [BlameLine(number + 1, lines[number], entries[sequence]) for number, sequence in enumerate(found)]


def _blame(lines: Sequence[str], revisions: Iterator[tuple[int, str | None]]) -> list[int]:
    """The sequence of the oldest revision without a break that has each line; revisions come newest first."""
    found = [next(revisions)[0]] * len(lines)
    # Where the lines that may be older still stand in the revision that is looked at.
    open_lines = {number: number for number in range(len(lines))}
    current: Sequence[str] = lines
    for sequence, text in revisions:
        older = split_lines(text) if text is not None else []
        same = {
            new: old
            for kind, a, b, c, d in opcodes(older, current)
            if kind == "equal"
            for old, new in zip(range(a, b), range(c, d), strict=True)
        }
        open_lines = {same[at]: number for at, number in open_lines.items() if at in same}
        for number in open_lines.values():
            found[number] = sequence
        if not open_lines:
            break
        current = older
    return found


def _revisions(space_id: uuid.UUID, path: str, sequence: int) -> Iterator[tuple[int, str | None]]:
    changes = Change.objects.filter(space_id=space_id, path=path, sequence__lte=sequence).order_by("-sequence")
    for start in range(0, MAXIMUM_REVISIONS, _REVISIONS_AT_ONCE):
        rows = list(changes[start : start + _REVISIONS_AT_ONCE])
        bodies = store.read_bodies(space_id, [row.blob for row in rows if row.blob is not None])
        for row in rows:
            yield row.sequence, bodies[row.blob].decode("utf-8", "replace") if row.blob is not None else None
        if len(rows) < _REVISIONS_AT_ONCE:
            return


def _file_diff(space_id: uuid.UUID, change: FileChange) -> FileDiff:
    bodies = store.read_bodies(space_id, [oid for oid in (change.before, change.after) if oid is not None])
    texts = [bodies[oid].decode("utf-8", "replace") if oid else None for oid in (change.before, change.after)]
    return unified(change.path, *texts)


def _row(space_id: uuid.UUID, commit: str | None) -> Commit:
    rows: QuerySet[Commit] = Commit.objects.filter(space_id=space_id)
    if commit is None:
        newest = rows.order_by("-sequence").first()
        if newest is None:
            raise NotFound("This space has no history yet.")
        return newest
    text = commit.strip().lower()
    if not _OID_PREFIX.fullmatch(text):
        raise Invalid("A commit is named by its id, or by the first seven or more of its hexadecimal digits.")
    low, high = (bytes.fromhex(text.ljust(40, filler)) for filler in "0f")
    found = list(rows.filter(oid__gte=low, oid__lte=high)[:2])
    if len(found) > 1:
        raise Invalid(f"Several commits begin with {text}; name more digits.")
    if not found:
        raise NotFound(f"There is no commit {text} in this space.")
    return found[0]


def _entry(row: Commit) -> LogEntry:
    return LogEntry(
        oid=row.oid.hex(),
        sequence=row.sequence,
        author_name=row.author_name,
        author_email=row.author_email,
        key_label=row.key_label,
        message=row.message,
        trailers=row.trailers,
        moment=row.moment,
    )


def _changes_at(space_id: uuid.UUID, path: str) -> "QuerySet[Change]":
    low, high = folder_range(path)
    # A folder is a range of paths: comparisons may use an index under row-level security, LIKE may not.
    return Change.objects.filter(Q(path=path) | Q(path__gte=low, path__lt=high), space_id=space_id)


def _is_at(changed: str, path: str) -> bool:
    return changed == path or changed.startswith(path.rstrip("/") + "/")
