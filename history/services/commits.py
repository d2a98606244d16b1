"""Committing: files of one space change in one step, in the transaction of the rows they tell of.

made = commit(space.id, {"office/hours.md": text, "office/old.md": None}, author=Author("Ada", "ada@example.org"),
              message="Office hours", trailers={"Surface": "mcp"}, moment=timezone.now())
made.oid                                      # None instead of a commit: nothing differed
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection, transaction

from core.errors import Conflict, Invalid
from core.text import clean_text
from history import store
from history.models import Kind
from history.objects import Signature, format_commit
from history.paths import validate_path
from history.store import Head, LogLine, NewObject
from history.trees import edit

# A note of a million characters in the widest script, with its front matter.
MAXIMUM_FILE_BYTES = 5 * 2**20
MAXIMUM_MESSAGE = 10_000
_LONGEST_NAME = 200
# The trailer that names the key a change was made with; `Surface` names the way it came.
KEY_TRAILER = "Key"
SURFACE_TRAILER = "Surface"
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
# What ends a line, or a name, or an address in a commit.
_NOT_IN_A_NAME = re.compile("[<>\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
# What git itself takes off both ends of a name; a name of these alone would be none.
_CRUD = " .,:;\"'\\"


@dataclass(frozen=True)
class Author:
    """Who made a change. Both parts are cleaned of what git cannot hold; a name that is left empty is the address."""

    name: str
    email: str

    def __post_init__(self) -> None:
        email = _NOT_IN_A_NAME.sub("", self.email).replace(" ", "")[:_LONGEST_NAME] or "unknown"
        name = " ".join(_NOT_IN_A_NAME.sub(" ", self.name).split()).strip(_CRUD)[:_LONGEST_NAME].strip(_CRUD) or email
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "email", email)


# Every commit is made by the server, on behalf of its author.
COMMITTER = Author("Memory server", "server@memory-mcp.local")


@dataclass(frozen=True)
class Commit:
    """A commit that was made: its id, its number within the space, and the blob of each changed file (None: gone)."""

    oid: str
    sequence: int
    blobs: Mapping[str, str | None] = field(default_factory=dict)


def lock(space_id: uuid.UUID) -> Head:
    """Wait for other writers of this history, and keep them waiting until the transaction ends.

    Whoever changes rows and commits takes this lock before locking any row: one order, no deadlock.
    """
    _require_transaction()
    return store.read_head(space_id, lock=True)


def commit(
    space_id: uuid.UUID,
    changes: Mapping[str, bytes | None],
    *,
    author: Author,
    message: str,
    trailers: Mapping[str, str],
    moment: datetime,
) -> Commit | None:
    """Commit `changes` (path to new content; None deletes) onto main, within the caller's transaction.

    None when nothing would differ: then there is no commit. Deleting what is not there is no difference.
    Raises `Invalid` for a path or content that cannot be kept, or a blank message.
    """
    _require_transaction()
    for path, content in changes.items():
        validate_path(path)
        if content is not None and len(content) > MAXIMUM_FILE_BYTES:
            raise Invalid(f"{path!r} is too large: at most {MAXIMUM_FILE_BYTES // 2**20} MB are kept in a file.")
    message = clean_text(message.replace("\r\n", "\n"), "message", maximum=MAXIMUM_MESSAGE).strip()
    trailers = {_trailer_name(name): _trailer_value(value) for name, value in trailers.items()}

    before = store.read_head(space_id, lock=True)
    blobs = {path: NewObject.of(Kind.BLOB, new) for path, new in changes.items() if new is not None}
    wanted = {path: blobs[path].oid if path in blobs else None for path in changes}
    edited = edit(store.tree_reader(space_id), before.tree, wanted)
    if edited.root is None or not edited.changes:
        return None
    body = format_commit(
        edited.root,
        before.oid,
        _signature(author, moment),
        _signature(COMMITTER, moment),
        _with_trailers(message, trailers),
    )
    made = NewObject.of(Kind.COMMIT, body)
    changed = {change.path for change in edited.changes}
    objects = [blob for path, blob in blobs.items() if path in changed]
    objects += [NewObject(Kind.TREE, oid, tree) for oid, tree in edited.trees.items()]
    after = Head(made.oid, edited.root, before.sequence + 1)
    line = LogLine(author.name, author.email, trailers.get(KEY_TRAILER, ""), message, trailers, moment)
    if not store.write_commit(space_id, before, after, [*objects, made], edited.changes, line):
        raise Conflict("Somebody else changed the history of this space at the same time; try again.")
    return Commit(
        oid=made.oid.hex(),
        sequence=after.sequence,
        blobs={change.path: change.after.hex() if change.after else None for change in edited.changes},
    )


def _signature(author: Author, moment: datetime) -> Signature:
    # git has no way to write a moment before 1970.
    return Signature(author.name, author.email, max(0, int(moment.timestamp())))


def _with_trailers(message: str, trailers: Mapping[str, str]) -> str:
    lines = [f"{name}: {value}" for name, value in trailers.items()]
    return "\n".join([message, "", *lines, ""] if lines else [message, ""])


def _trailer_name(name: str) -> str:
    if not _TRAILER.fullmatch(name):
        raise Invalid(f"A trailer is named by letters, digits and hyphens, unlike {name!r}.")
    return name


def _trailer_value(value: str) -> str:
    return _NOT_IN_A_NAME.sub(" ", value).strip()[:_LONGEST_NAME]


def _require_transaction() -> None:
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("A commit belongs into the transaction of the rows it tells of.")
