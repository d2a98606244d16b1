"""Packs, the form in which git takes many objects at once, written straight from rows: nothing is compressed again."""

import hashlib
import struct
import uuid
from collections.abc import Iterator
from pathlib import Path

from django.db import connection

# Keys that are read at once, and bytes of content: blobs of five megabytes must not come a thousand at a time.
_KEYS = 5000
_BATCH_BYTES = 8 * 2**20


def write_pack(path: Path, space_id: uuid.UUID, after: int, until: int) -> int:
    """Write what commits number `after + 1` to `until` brought into the pack file `path`; returns how many objects.

    Runs inside a binding of the space.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM history_object WHERE space_id = %s AND sequence > %s AND sequence <= %s",
            [space_id, after, until],
        )
        count = int(cursor.fetchall()[0][0])
    digest = hashlib.sha1(usedforsecurity=False)
    with path.open("wb") as file:
        for part in _parts(space_id, after, until, count):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
    return count


def entry_header(kind: int, size: int) -> bytes:
    """The header of an object in a pack: its type and the size of its body, seven bits a byte after the first four."""
    byte, rest = kind << 4 | size & 0x0F, size >> 4
    header = bytearray()
    while rest:
        header.append(byte | 0x80)
        byte, rest = rest & 0x7F, rest >> 7
    header.append(byte)
    return bytes(header)


def _parts(space_id: uuid.UUID, after: int, until: int, count: int) -> Iterator[bytes]:
    yield b"PACK" + struct.pack(">II", 2, count)
    for keys in _keys(space_id, after, until):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT kind, size, data FROM history_object WHERE space_id = %s AND oid = ANY(%s::bytea[])",
                [space_id, keys],
            )
            for kind, size, data in cursor.fetchall():
                yield entry_header(kind, size)
                yield data


def _keys(space_id: uuid.UUID, after: int, until: int) -> Iterator[list[bytes]]:
    """The ids of the objects, in lists whose content fits into memory."""
    position: tuple[int, bytes] = (after, b"\xff" * 20)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT sequence, oid, octet_length(data) FROM history_object "
                "WHERE space_id = %s AND (sequence, oid) > (%s, %s) AND sequence <= %s ORDER BY sequence, oid LIMIT %s",
                [space_id, *position, until, _KEYS],
            )
            rows = cursor.fetchall()
        keys: list[bytes] = []
        size = 0
        for _, oid, length in rows:
            if keys and size + length > _BATCH_BYTES:
                yield keys
                keys, size = [], 0
            keys.append(oid)
            size += length
        if keys:
            yield keys
        if len(rows) < _KEYS:
            return
        position = (rows[-1][0], rows[-1][1])
