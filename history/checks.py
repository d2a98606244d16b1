"""Whether a stored history is whole: every object is what its id says, reachable, and told of by the log.

Memory grows with the number of objects, about 200 bytes each, and not with their content.
"""

import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import connection

from history import store
from history.models import Change, Commit, Kind
from history.objects import object_id, parse_commit, parse_tree
from history.trees import FileChange, compare
from spaces.isolation import bound

MAXIMUM_PROBLEMS = 100
_BATCH = 500


@dataclass
class Report:
    """What was looked at, and what is wrong, the first hundred sentences of it; none when all is well."""

    objects: int = 0
    commits: int = 0
    problems: list[str] = field(default_factory=list)

    def tell(self, problem: str) -> None:
        if len(self.problems) < MAXIMUM_PROBLEMS:
            self.problems.append(problem)


def check_history(space_id: uuid.UUID) -> Report:
    """Read everything there is of a space's history. Writers go on meanwhile; what they add is not looked at."""
    report = Report()
    with bound(space_id):
        head = store.read_head(space_id)
        kinds: dict[bytes, int] = {}
        wanted: dict[bytes, int] = {}
        for oid, kind, size, data in _objects(space_id, head.sequence):
            report.objects += 1
            kinds[oid] = kind
            _check_object(report, oid, kind, size, data, wanted)
        if head.oid is not None:
            wanted[head.oid] = Kind.COMMIT
        for oid, kind in wanted.items():
            if kinds.get(oid) != kind:
                report.tell(f"{Kind(kind).label} {oid.hex()} is missing")
        # In a graph without circles, what cannot be reached includes something that nothing points at.
        for oid in kinds.keys() - wanted.keys():
            report.tell(f"object {oid.hex()} belongs to no commit")
        if not report.problems:
            _check_log(report, space_id, head)
    return report


def _objects(space_id: uuid.UUID, until: int) -> Iterator[tuple[bytes, int, int, bytes]]:
    last = b""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT oid, kind, size, data FROM history_object "
                "WHERE space_id = %s AND oid > %s AND sequence <= %s ORDER BY oid LIMIT %s",
                [space_id, last, until, _BATCH],
            )
            rows = cursor.fetchall()
        yield from rows
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]


def _check_object(report: Report, oid: bytes, kind: int, size: int, data: bytes, wanted: dict[bytes, int]) -> None:
    try:
        body = zlib.decompress(data)
    except zlib.error:
        report.tell(f"object {oid.hex()} cannot be decompressed")
        return
    if object_id(Kind(kind), body) != oid or len(body) != size:
        report.tell(f"object {oid.hex()} is not what its id says")
        return
    if kind == Kind.TREE:
        for entry in parse_tree(body).values():
            wanted[entry.oid] = Kind.TREE if entry.is_folder else Kind.BLOB
    elif kind == Kind.COMMIT:
        commit = parse_commit(body)
        wanted[commit.tree] = Kind.TREE
        wanted.update(dict.fromkeys(commit.parents, Kind.COMMIT))


def _check_log(report: Report, space_id: uuid.UUID, head: store.Head) -> None:
    """The log holds exactly the commits from the head back to the first, and exactly what each of them changed."""
    read = store.tree_reader(space_id)
    oid, tree, sequence = head.oid, head.tree, head.sequence
    while oid is not None:
        report.commits += 1
        commit = parse_commit(store.read_bodies(space_id, [oid])[oid])
        if tree is not None and commit.tree != tree:
            report.tell(f"the ref names another tree than commit {oid.hex()}")
        parent = commit.parents[0] if commit.parents else None
        before = store.root_of(space_id, parent)
        row = Commit.objects.filter(space_id=space_id, sequence=sequence).first()
        if row is None or bytes(row.oid) != oid:
            report.tell(f"the log does not have commit {oid.hex()} as number {sequence}")
        elif compare(read, before, commit.tree) != _noted(space_id, sequence):
            report.tell(f"the log tells of other changes than commit {oid.hex()} made")
        oid, tree, sequence = parent, None, sequence - 1
    if sequence != 0:
        report.tell(f"the numbers of the commits begin with {sequence + 1} instead of 1")
    if Commit.objects.filter(space_id=space_id, sequence__lte=head.sequence).count() != head.sequence:
        report.tell("the log has commits that are not in the history")


def _noted(space_id: uuid.UUID, sequence: int) -> list[FileChange]:
    rows = Change.objects.filter(space_id=space_id, sequence=sequence).order_by("path")
    return [FileChange(row.path, row.previous, row.blob) for row in rows]
