"""Git's object formats: bytes to bytes, without a repository.

A tree is a mapping of names to entries; commits are text. Ids are 20 bytes here and 40 hex digits for callers.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import Invalid
from history.models import Kind

_NAMES = {Kind.COMMIT: b"commit", Kind.TREE: b"tree", Kind.BLOB: b"blob"}
_OID = re.compile(r"[0-9a-f]{40}")
FILE_MODE = 0o100644
FOLDER_MODE = 0o040000


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name in a tree stands for."""

    mode: int
    oid: bytes

    @property
    def is_folder(self) -> bool:
        return self.mode == FOLDER_MODE


Tree = Mapping[bytes, Entry]


def object_id(kind: Kind, body: bytes) -> bytes:
    """The id git gives an object: SHA-1 of its header and body."""
    header = b"%b %d\x00" % (_NAMES[kind], len(body))
    return hashlib.sha1(header + body, usedforsecurity=False).digest()


def blob_id(content: bytes) -> str:
    """The id of a file's content, as 40 hex digits."""
    return object_id(Kind.BLOB, content).hex()


def parse_oid(text: str, field: str = "commit") -> bytes:
    """40 hex digits as an id. Raises `Invalid` for anything else."""
    if not _OID.fullmatch(text):
        raise Invalid(f"{field} must be a commit's full id of 40 hexadecimal digits.")
    return bytes.fromhex(text)


def parse_tree(body: bytes) -> dict[bytes, Entry]:
    """Raises ValueError for what is no tree."""
    entries: dict[bytes, Entry] = {}
    position = 0
    while position < len(body):
        blank = body.index(b" ", position)
        end = body.index(b"\x00", blank)
        oid = body[end + 1 : end + 21]
        if len(oid) != 20:
            raise ValueError("the tree ends within an entry")
        entries[body[blank + 1 : end]] = Entry(int(body[position:blank], 8), oid)
        position = end + 21
    return entries


def format_tree(entries: Tree) -> bytes:
    """The body of a tree; git sorts folders as if their names ended in a slash."""
    ordered = sorted(entries.items(), key=lambda item: item[0] + b"/" if item[1].is_folder else item[0])
    return b"".join(b"%o %b\x00%b" % (entry.mode, name, entry.oid) for name, entry in ordered)


@dataclass(frozen=True, slots=True)
class Signature:
    """Who and when, as it stands in a commit: seconds since 1970, always shown in UTC."""

    name: str
    email: str
    seconds: int

    def __str__(self) -> str:
        return f"{self.name} <{self.email}> {self.seconds} +0000"


def format_commit(tree: bytes, parent: bytes | None, author: Signature, committer: Signature, message: str) -> bytes:
    """The body of a commit with at most one parent."""
    lines = [f"tree {tree.hex()}"]
    if parent is not None:
        lines.append(f"parent {parent.hex()}")
    lines += [f"author {author}", f"committer {committer}", "", message]
    return "\n".join(lines).encode()


def rewrite_commit(body: bytes, tree: bytes, parent: bytes | None, message: str | None) -> bytes:
    """A commit with the same people and times, of another tree, onto another parent, with another message if given."""
    head, _, text = body.partition(b"\n\n")
    kept = [line for line in head.split(b"\n") if line.startswith((b"author ", b"committer "))]
    lines = [b"tree " + tree.hex().encode(), *([b"parent " + parent.hex().encode()] if parent is not None else [])]
    return b"\n".join([*lines, *kept, b"", text if message is None else f"{message}\n".encode()])


@dataclass(frozen=True, slots=True)
class ParsedCommit:
    """What a commit points at."""

    tree: bytes
    parents: tuple[bytes, ...]


def parse_commit(body: bytes) -> ParsedCommit:
    """Raises ValueError for what is no commit."""
    head = body.partition(b"\n\n")[0].split(b"\n")
    trees = [line[5:] for line in head if line.startswith(b"tree ")]
    parents = [line[7:] for line in head if line.startswith(b"parent ")]
    if len(trees) != 1:
        raise ValueError("a commit has one tree")
    return ParsedCommit(bytes.fromhex(trees[0].decode()), tuple(bytes.fromhex(parent.decode()) for parent in parents))
