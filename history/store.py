"""Objects of one space as rows: reading bodies, and writing a commit with all it brings in one statement.

Everything here runs inside a binding of the space (`spaces.isolation.bound`).
"""

import json
import threading
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from history.models import MAIN, Kind
from history.objects import object_id, parse_commit
from history.trees import FileChange, ReadTrees

# Folders lately used by this process; the upper ones of every path are needed by every commit.
_CACHED_TREE_BYTES = 32 * 2**20
# Rows of one statement, and bytes of their content: a driver holds a statement several times over.
_ROWS = 2000
_ROW_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Head:
    """Where main stands: the commit and its tree (None before the first one), and how many commits there are."""

    oid: bytes | None
    tree: bytes | None
    sequence: int


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object that may be new."""

    kind: Kind
    oid: bytes
    body: bytes

    @classmethod
    def of(cls, kind: Kind, body: bytes) -> "NewObject":
        return cls(kind, object_id(kind, body), body)


class _TreeCache:
    """Bodies of trees by id. Content never changes, so an entry is right whether or not its transaction was committed.

    Only reading uses it: that a tree is cached does not mean that its row exists.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._bodies: OrderedDict[tuple[uuid.UUID, bytes], bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, space_id: uuid.UUID, oid: bytes) -> bytes | None:
        with self._lock:
            body = self._bodies.get((space_id, oid))
            if body is not None:
                self._bodies.move_to_end((space_id, oid))
            return body

    def put(self, space_id: uuid.UUID, bodies: Mapping[bytes, bytes]) -> None:
        with self._lock:
            for oid, body in bodies.items():
                if (space_id, oid) not in self._bodies:
                    self._bodies[space_id, oid] = body
                    self._size += len(body)
            while self._size > self._maximum:
                self._size -= len(self._bodies.popitem(last=False)[1])


_cache = _TreeCache(_CACHED_TREE_BYTES)


def read_bodies(space_id: uuid.UUID, oids: Iterable[bytes]) -> dict[bytes, bytes]:
    """The bodies of these objects; one that is missing raises LookupError."""
    wanted = list(set(oids))
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT oid, data FROM history_object WHERE space_id = %s AND oid = ANY(%s::bytea[])", [space_id, wanted]
        )
        found = {oid: zlib.decompress(data) for oid, data in cursor.fetchall()}
    missing = next((oid for oid in wanted if oid not in found), None)
    if missing is not None:
        raise LookupError(f"object {missing.hex()} is missing in the history of space {space_id}")
    return found


def tree_reader(space_id: uuid.UUID) -> ReadTrees:
    """What the functions of `history.trees` read a space's folders with."""

    def read(oids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        missing = []
        for oid in oids:
            body = _cache.get(space_id, oid)
            if body is None:
                missing.append(oid)
            else:
                found[oid] = body
        loaded = read_bodies(space_id, missing)
        _cache.put(space_id, loaded)
        return {**found, **loaded}

    return read


def root_of(space_id: uuid.UUID, commit: bytes | None) -> bytes | None:
    """The tree of a commit; None for no commit."""
    return parse_commit(read_bodies(space_id, [commit])[commit]).tree if commit is not None else None


def read_head(space_id: uuid.UUID, *, lock: bool = False) -> Head:
    """Where main stands. With `lock` no other transaction moves it until this one ends."""
    with connection.cursor() as cursor:
        # The lock is taken on this row alone: rows joined to it would be those from before the wait.
        statement = "SELECT oid, tree, sequence FROM history_ref WHERE space_id = %s AND name = %s"
        cursor.execute(statement + (" FOR UPDATE" if lock else ""), [space_id, MAIN])
        row = cursor.fetchone()
        if row is None and lock:
            cursor.execute(
                "INSERT INTO history_ref (space_id, name, sequence) VALUES (%s, %s, 0) ON CONFLICT DO NOTHING",
                [space_id, MAIN],
            )
            cursor.execute(statement + " FOR UPDATE", [space_id, MAIN])
            row = cursor.fetchone()
    return Head(*row) if row is not None else Head(None, None, 0)


_INSERT_OBJECTS = """
INSERT INTO history_object (space_id, oid, kind, sequence, size, data)
SELECT %(space)s, oid, kind, %(sequence)s, size, data
FROM unnest(%(oids)s::bytea[], %(kinds)s::smallint[], %(sizes)s::integer[], %(data)s::bytea[])
    AS new (oid, kind, size, data)
ON CONFLICT DO NOTHING
"""

# All that a commit writes, in one round trip. No row comes back when main does not stand where it was found.
_INSERT_COMMIT = f"""
WITH moved AS (
    UPDATE history_ref SET oid = %(oid)s, tree = %(tree)s, sequence = %(sequence)s
    WHERE space_id = %(space)s AND name = %(name)s AND sequence = %(sequence)s - 1
        AND oid IS NOT DISTINCT FROM %(parent)s
    RETURNING 1
), stored AS ({_INSERT_OBJECTS}), changed AS (
    INSERT INTO history_change (space_id, path, sequence, blob, previous)
    SELECT %(space)s, path, %(sequence)s, blob, previous
    FROM unnest(%(paths)s::text[], %(blobs)s::bytea[], %(previous)s::bytea[]) AS new (path, blob, previous)
), logged AS (
    INSERT INTO history_commit
        (space_id, sequence, oid, author_name, author_email, key_label, message, trailers, moment)
    VALUES (%(space)s, %(sequence)s, %(oid)s, %(author_name)s, %(author_email)s, %(key_label)s, %(message)s,
        %(trailers)s::jsonb, %(moment)s)
)
SELECT 1 FROM moved
"""  # noqa: S608 - put together of constants


@dataclass(frozen=True, slots=True)
class LogLine:
    """What the log tells of a commit beside its files."""

    author_name: str
    author_email: str
    key_label: str
    message: str
    trailers: Mapping[str, str]
    moment: datetime


def write_commit(
    space_id: uuid.UUID,
    before: Head,
    after: Head,
    objects: Sequence[NewObject],
    changes: Sequence[FileChange],
    line: LogLine,
) -> bool:
    """Store what commit `after` brings and move main to it; False when main does not stand at `before` any more."""
    shared: dict[str, Any] = {"space": space_id, "sequence": after.sequence}
    *earlier, last = _batches(objects)
    with connection.cursor() as cursor:
        for batch in earlier:
            cursor.execute(_INSERT_OBJECTS, {**shared, **_columns(batch)})
        cursor.execute(
            _INSERT_COMMIT,
            {
                **shared,
                **_columns(last),
                "name": MAIN,
                "oid": after.oid,
                "tree": after.tree,
                "parent": before.oid,
                "paths": [change.path for change in changes],
                "blobs": [change.after for change in changes],
                "previous": [change.before for change in changes],
                "author_name": line.author_name,
                "author_email": line.author_email,
                "key_label": line.key_label,
                "message": line.message,
                "trailers": json.dumps(dict(line.trailers)),
                "moment": line.moment,
            },
        )
        moved = cursor.fetchone() is not None
    _cache.put(space_id, {new.oid: new.body for new in objects if new.kind is Kind.TREE})
    return moved


def add_objects(space_id: uuid.UUID, sequence: int, objects: Sequence[NewObject]) -> None:
    """Store objects that are not there yet, as brought by commit number `sequence`."""
    with connection.cursor() as cursor:
        for batch in _batches(objects):
            cursor.execute(_INSERT_OBJECTS, {"space": space_id, "sequence": sequence, **_columns(batch)})


def keep_objects(space_id: uuid.UUID, sequence: int, oids: Sequence[bytes]) -> None:
    """Objects that were set aside (their number is negative) belong to commit number `sequence` again."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE history_object SET sequence = %s WHERE space_id = %s AND oid = ANY(%s::bytea[]) AND sequence < 0",
            [sequence, space_id, list(oids)],
        )


def _columns(batch: Sequence[NewObject]) -> dict[str, Any]:
    return {
        "oids": [new.oid for new in batch],
        "kinds": [int(new.kind) for new in batch],
        "sizes": [len(new.body) for new in batch],
        "data": [zlib.compress(new.body) for new in batch],
    }


def _batches(objects: Iterable[NewObject]) -> Iterator[Sequence[NewObject]]:
    batch: list[NewObject] = []
    size = 0
    for new in objects:
        batch.append(new)
        size += len(new.body)
        if len(batch) >= _ROWS or size >= _ROW_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
