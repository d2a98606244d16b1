"""Taking a history back in from a clone: the same objects under the same ids, so that other clones still fit.

clone = read_clone(Path("team.git"))         # asks git, before any transaction
with bound(space.id):
    store_clone(space.id, clone)
"""

import re
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from core.errors import Conflict, Invalid
from history import git, store
from history.models import MAIN, Kind
from history.objects import object_id, parse_commit, parse_tree
from history.paths import validate_path
from history.services.commits import KEY_TRAILER, lock
from history.store import Head, LogLine, NewObject
from history.trees import FileChange, compare

_SIGNATURE = re.compile(rb"^author (.*) <([^<>]*)> (\d+) [+-]\d{4}$", re.MULTILINE)
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): (.*)")
_KINDS = {b"commit": Kind.COMMIT, b"tree": Kind.TREE, b"blob": Kind.BLOB}


@dataclass(frozen=True)
class ClonedCommit:
    """One commit with the objects that are not in those before it, and the files that it changed."""

    oid: bytes
    tree: bytes
    body: bytes
    objects: list[NewObject]
    changes: list[FileChange]


def read_clone(path: Path) -> list[ClonedCommit]:
    """The commits of main in a clone or a bare repository, oldest first.

    Raises `Invalid` for what is no repository, or a history that a space cannot have, and `GitUnavailable`.
    """
    if not path.is_dir():
        raise Invalid(f"There is no folder {path}.")
    try:
        listed = git.run(path, "rev-list", "--reverse", "--parents", MAIN).decode().split("\n")
    except git.GitUnavailable as error:
        raise Invalid(f"{path} is no git repository with a branch main: {error.message}") from None
    with _reading(path) as read:
        return list(_commits(read, [line.split() for line in listed if line]))


def store_clone(space_id: uuid.UUID, clone: Iterable[ClonedCommit]) -> int:
    """Make these commits the history of a space that has none, within the caller's transaction; returns how many.

    Raises `Conflict` when the space has a history.
    """
    head = lock(space_id)
    if head.oid is not None:
        raise Conflict("The space has a history already; a clone is taken in by an empty space.")
    for commit in clone:
        after = Head(commit.oid, commit.tree, head.sequence + 1)
        made = NewObject(Kind.COMMIT, commit.oid, commit.body)
        line = _log_line(commit)
        if not store.write_commit(space_id, head, after, [*commit.objects, made], commit.changes, line):
            raise Conflict("Somebody else wrote to the space at the same time; try again.")
        head = after
    return head.sequence


class _Reader:
    """Objects of a repository, asked of one git process."""

    def __init__(self, asked: IO[bytes], answers: IO[bytes]) -> None:
        self._asked = asked
        self._answers = answers

    def read(self, oid: bytes) -> NewObject:
        self._asked.write(oid.hex().encode() + b"\n")
        self._asked.flush()
        header = self._answers.readline().split()
        if len(header) != 3 or header[1] not in _KINDS:
            raise Invalid(f"The repository lacks object {oid.hex()}, or it is of a kind that no history here has.")
        body = self._answers.read(int(header[2]))
        self._answers.read(1)
        kind = _KINDS[header[1]]
        if object_id(kind, body) != oid:
            raise Invalid(f"Object {oid.hex()} of the repository is damaged.")
        return NewObject(kind, oid, body)

    def trees(self, oids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """As `history.trees` reads folders."""
        return {oid: self.read(oid).body for oid in oids}


@contextmanager
def _reading(path: Path) -> Iterator[_Reader]:
    process = subprocess.Popen(
        git.command("cat-file", "--batch"),
        cwd=path,
        env=git.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        if process.stdin is None or process.stdout is None:
            raise git.GitUnavailable("git cat-file did not start.")
        yield _Reader(process.stdin, process.stdout)
    finally:
        process.kill()
        process.communicate()


def _commits(reader: _Reader, listed: list[list[str]]) -> Iterator[ClonedCommit]:
    seen: set[bytes] = set()
    parent: str | None = None
    tree: bytes | None = None
    for oid, *parents in listed:
        if parents != ([parent] if parent is not None else []):
            raise Invalid(f"Commit {oid[:10]} is a merge or a second beginning; the history of a space is one line.")
        body = reader.read(bytes.fromhex(oid)).body
        after = parse_commit(body).tree
        changes = compare(reader.trees, tree, after)
        for change in changes:
            validate_path(change.path)
        yield ClonedCommit(bytes.fromhex(oid), after, body, _unseen(reader, after, seen), changes)
        parent, tree = oid, after


def _unseen(reader: _Reader, root: bytes, seen: set[bytes]) -> list[NewObject]:
    found: list[NewObject] = []
    waiting = [root]
    while waiting:
        oid = waiting.pop()
        if oid in seen:
            continue
        seen.add(oid)
        new = reader.read(oid)
        found.append(new)
        if new.kind is Kind.TREE:
            waiting += [entry.oid for entry in parse_tree(new.body).values()]
    return found


def _log_line(commit: ClonedCommit) -> LogLine:
    head, _, text = commit.body.partition(b"\n\n")
    signed = _SIGNATURE.search(head)
    if signed is None:
        raise Invalid(f"Commit {commit.oid.hex()[:10]} has no author that can be read.")
    message, trailers = _split_trailers(text.decode("utf-8", "replace").strip("\n"))
    return LogLine(
        author_name=signed.group(1).decode("utf-8", "replace"),
        author_email=signed.group(2).decode("utf-8", "replace"),
        key_label=trailers.get(KEY_TRAILER, ""),
        message=message,
        trailers=trailers,
        moment=datetime.fromtimestamp(int(signed.group(3)), UTC),
    )


def _split_trailers(text: str) -> tuple[str, dict[str, str]]:
    message, gap, last = text.rpartition("\n\n")
    found = [_TRAILER.fullmatch(line) for line in last.split("\n")]
    if not gap or not all(found):
        return text, {}
    return message, {match.group(1): match.group(2) for match in found if match is not None}
