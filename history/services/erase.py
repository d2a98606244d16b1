"""Erasing contents for good, for law and not for tidiness: the history is written anew as if they had never been there.

    with bound(space.id):
        erase(space.id, {blob: None}, names=["attic/secret"], author=author, reason="Request of 3 March", moment=now)

Every commit from the first that held such a content on has another id afterwards, so that old clones diverge visibly.
A last commit says who erased, and why; what was erased it does not say.
"""

import uuid
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Min, Q

from core.errors import NotFound
from history import store
from history.mirror import forget_mirror
from history.models import Change, Commit, Kind, Object
from history.objects import Signature, format_commit, rewrite_commit
from history.services.commits import COMMITTER, Author, lock
from history.store import Head, LogLine, NewObject
from history.trees import edit

# What stands for the message of a commit that brought, changed or deleted what was erased: it may have named it.
MESSAGE = "A change of something that was erased"


@dataclass(frozen=True)
class Erased:
    """What erasing has done: the commits that have another id now, by their old one, and the commit that says so."""

    renamed: dict[str, str]
    commit: str


def erase(
    space_id: uuid.UUID,
    contents: Mapping[bytes, bytes | None],
    *,
    names: Collection[str],
    author: Author,
    reason: str,
    moment: datetime,
) -> Erased:
    """Take the contents with these ids out of the history, within the caller's transaction.

    What stands for None: a file that had such a content is, as long as it had it, not there. Else the file has had the
    new content instead. Messages that mention one of the `names` are replaced, like those of commits that touched what
    goes. Raises `NotFound` when the history has none of the contents.
    """
    head = lock(space_id)
    touching = Change.objects.filter(Q(blob__in=contents) | Q(previous__in=contents), space_id=space_id)
    first = touching.aggregate(first=Min("sequence"))["first"]
    if first is None:
        raise NotFound("The history of this space has none of these contents.")
    _set_aside(space_id, first)
    standing = _standing_before(space_id, first)
    renamed: dict[str, str] = {}
    for row in Commit.objects.filter(space_id=space_id, sequence__gte=first).order_by("sequence").iterator(500):
        old = bytes(row.oid)
        standing = _write_anew(space_id, row, standing, contents, names)
        renamed[old.hex()] = (standing.oid or b"").hex()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM history_object WHERE space_id = %s AND sequence < 0", [space_id])
        cursor.execute(
            "UPDATE history_ref SET oid = %s, tree = %s WHERE space_id = %s AND sequence = %s",
            [standing.oid, standing.tree, space_id, head.sequence],
        )
    made = _tell(space_id, standing, author, reason, moment)
    transaction.on_commit(lambda: forget_mirror(space_id))
    return Erased(renamed, made.oid.hex())


def _set_aside(space_id: uuid.UUID, first: int) -> None:
    """Objects that came since then are marked; those that are still needed get their number back, the others go."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE history_object SET sequence = -sequence WHERE space_id = %s AND sequence >= %s", [space_id, first]
        )


def _standing_before(space_id: uuid.UUID, first: int) -> Head:
    row = Commit.objects.filter(space_id=space_id, sequence=first - 1).first()
    if row is None:
        return Head(None, None, 0)
    oid = bytes(row.oid)
    return Head(oid, store.root_of(space_id, oid), first - 1)


def _write_anew(
    space_id: uuid.UUID, row: Commit, before: Head, contents: Mapping[bytes, bytes | None], names: Collection[str]
) -> Head:
    rows = list(Change.objects.filter(space_id=space_id, sequence=row.sequence))
    touched = [oid for one in rows for oid in (one.blob, one.previous) if oid is not None and bytes(oid) in contents]
    wanted: dict[str, bytes | None] = {}
    objects = []
    for one in rows:
        blob = bytes(one.blob) if one.blob is not None else None
        content = contents.get(blob) if blob is not None else None
        if content is not None:
            objects.append(NewObject.of(Kind.BLOB, content))
            blob = objects[-1].oid
        wanted[one.path] = None if blob in contents else blob
    edited = edit(store.tree_reader(space_id), before.tree, wanted)
    objects += [NewObject(Kind.TREE, oid, body) for oid, body in edited.trees.items()] if edited.changes else []
    tree = edited.root
    if tree is None:
        objects.append(NewObject.of(Kind.TREE, b""))
        tree = objects[-1].oid
    old = bytes(row.oid)
    goes = any(contents[bytes(oid)] is None for oid in touched) or any(name in row.message for name in names)
    body = rewrite_commit(store.read_bodies(space_id, [old])[old], tree, before.oid, MESSAGE if goes else None)
    made = NewObject.of(Kind.COMMIT, body)
    needed = [*(new.oid for new in objects), *(blob for blob in wanted.values() if blob is not None)]
    store.keep_objects(space_id, row.sequence, needed)
    store.add_objects(space_id, row.sequence, [*objects, made])
    if touched:
        Change.objects.filter(space_id=space_id, sequence=row.sequence).delete()
        Change.objects.bulk_create(
            Change(space_id=space_id, path=one.path, sequence=row.sequence, blob=one.after, previous=one.before)
            for one in edited.changes
        )
    line = {"message": MESSAGE} if goes else {}
    Commit.objects.filter(space_id=space_id, sequence=row.sequence).update(oid=made.oid, **line)
    return Head(made.oid, tree, row.sequence)


def _tell(space_id: uuid.UUID, standing: Head, author: Author, reason: str, moment: datetime) -> NewObject:
    """The commit that says who erased something, and why. It changes no file."""
    if standing.tree is None:
        raise RuntimeError("a history that was written anew has a tree")
    message = f"Erase something for good\n\n{reason}"
    seconds = int(moment.timestamp())
    by, through = (Signature(who.name, who.email, seconds) for who in (author, COMMITTER))
    made = NewObject.of(Kind.COMMIT, format_commit(standing.tree, standing.oid, by, through, message + "\n"))
    after = Head(made.oid, standing.tree, standing.sequence + 1)
    store.write_commit(
        space_id, standing, after, [made], [], LogLine(author.name, author.email, "", message, {}, moment)
    )
    return made


def contents_with(space_id: uuid.UUID, words: Collection[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Id and content of all files there have ever been that contain one of the words; all are read."""
    blobs = Object.objects.filter(space_id=space_id, kind=Kind.BLOB)
    for oid, data in blobs.values_list("oid", "data").iterator(100):
        body = zlib.decompress(data)
        if any(word in body for word in words):
            yield bytes(oid), body
