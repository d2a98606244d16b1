"""What does a history cost?

Durable commits of one file a second, one writer, against a bare repository on the same disk whose objects are synced,
at 1,000 and at 100,000 files; what a commit adds to the database at both; and a clone of 20,000 files over HTTP against
one of the same repository from the disk.

    bin/run python -m benchmarks.history
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from benchmarks.common import milliseconds, scratch_database, server, verdict

SMALL, MIDDLE, LARGE = 1_000, 20_000, 100_000
ROUNDS = 150
# Files of one commit while a space is filled.
_FILLED_AT_ONCE = 20_000
# Our durable commits a second against those on disk; memory that clones may take in the web process.
COMMIT_LIMIT, CLONE_MEGABYTES = 1.0, 60
_TABLES = ("history_object", "history_ref", "history_commit", "history_change")


def path_of(number: int) -> str:
    """Where a fact's file stands: three levels of folders by the digits of its id."""
    identifier = uuid.uuid5(uuid.NAMESPACE_OID, str(number))
    digits = identifier.hex
    return f"memories/{digits[0]}/{digits[1]}/{digits[2]}/{identifier}.md"


def text_of(number: int, version: int) -> bytes:
    """About 600 bytes, as a short note has with its front matter."""
    words = " ".join(f"{uuid.uuid5(uuid.NAMESPACE_URL, f'{number} {version} {word}')}" for word in range(14))
    return f"---\nversion: {version}\n---\n{words}\n".encode()


class Rows:
    """A history in the database."""

    def __init__(self, files: int) -> None:
        from benchmarks.data import demo_key
        from history.services.commits import Author

        self.key, self.access = demo_key(f"files-{files}")
        self.space = self.access.space(None)
        self.author = Author("Benchmark", "benchmark@example.org")
        for start in range(0, files, _FILLED_AT_ONCE):
            numbers = range(start, min(files, start + _FILLED_AT_ONCE))
            self.commit({path_of(number): text_of(number, 0) for number in numbers})

    def commit(self, changes: dict[str, bytes]) -> None:
        from django.utils import timezone

        from history.services.commits import commit
        from spaces.isolation import bound

        with bound(self.space.id):
            commit(self.space.id, changes, author=self.author, message="Change", trailers={}, moment=timezone.now())


class Disk:
    """A bare repository on disk, written in this process by a git library that syncs every object, then the ref."""

    def __init__(self, folder: Path, files: int) -> None:
        from dulwich.repo import Repo

        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(folder)], check=True)
        lines = [b"commit refs/heads/main\ncommitter B <b@example.org> 1 +0000\ndata 7\nChange\n\n"]
        for number in range(files):
            text = text_of(number, 0)
            lines.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path_of(number).encode(), len(text), text))
        subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=b"".join(lines), check=True)
        self._repository: Any = Repo(str(folder))
        self._repository.object_store.fsync_object_files = True
        self._ref = folder / "refs/heads/main"
        self._head = self._repository.head()

    def commit(self, path: str, text: bytes) -> None:
        from dulwich.objects import Blob, Commit

        store = self._repository.object_store
        *folders, name = path.encode().split(b"/")
        trees: list[Any] = [store[store[self._head].tree]]
        for folder in folders:
            trees.append(store[trees[-1][folder][1]])
        blob = Blob.from_string(text)
        new: list[Any] = [blob]
        entry = (0o100644, blob.id)
        for tree, part in zip(reversed(trees), [name, *reversed(folders)], strict=True):
            tree[part] = entry
            new.append(tree)
            entry = (0o040000, tree.id)
        made = Commit()
        made.tree, made.parents, made.message = entry[1], [self._head], b"Change\n"
        made.author = made.committer = b"B <b@example.org>"
        made.author_time = made.commit_time = int(time.time())
        made.author_timezone = made.commit_timezone = 0
        for one in (*new, made):
            store.add_object(one)
        self._move(made.id)

    def _move(self, oid: bytes) -> None:
        fresh = self._ref.with_name("main.new")
        with fresh.open("wb") as file:
            file.write(oid + b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._ref)
        self._head = oid


def _database_bytes() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [list(_TABLES)]
        )
        return int(cursor.fetchall()[0][0])


def commits(files: int, folder: Path) -> tuple[bool, int]:
    """Ours against git's, interleaved; and what one of ours adds to the database."""
    rows, disk = Rows(files), Disk(folder, files)
    ours, gits = [], []
    before = _database_bytes()
    for number in range(ROUNDS):
        path, text = path_of(number * 7 % files), text_of(number, 1)
        ours.append(milliseconds(rows.commit, {path: text}))
        gits.append(milliseconds(disk.commit, path, text))
    growth = (_database_bytes() - before) // ROUNDS
    a, b = statistics.median(ours), statistics.median(gits)
    print(f"{files:,} files: {a:.1f} ms a commit, on disk with fsync {b:.1f} ms; {growth:,} bytes a commit")
    fast = verdict(f"durable commits a second, ours / on disk, {files:,} files", b / a, COMMIT_LIMIT, at_most=False)
    return fast, growth


def clone(folder: Path) -> bool:
    """A clone over HTTP against one of the mirror from the disk; the first one fills the mirror."""
    from django.conf import settings

    rows = Rows(MIDDLE)
    mirror = Path(settings.MEMORY_HOME) / "git" / f"{rows.space.id}.git"
    with server() as running:
        address = f"http://x:{rows.key}@127.0.0.1:{running.port}/git/files-{MIDDLE}.git"
        held = running.resident_megabytes()
        first = milliseconds(_clone, address, folder / "first")
        again = statistics.median(milliseconds(_clone, address, folder / f"again-{n}") for n in range(3))
        local = statistics.median(milliseconds(_clone, f"file://{mirror}", folder / f"local-{n}") for n in range(3))
        grown = running.resident_megabytes() - held
    print(f"{MIDDLE:,} files: first clone {first:.0f} ms, then {again:.0f} ms, from the disk {local:.0f} ms")
    print(f"a clone over HTTP takes {again / local:.2f} times as long as one from the disk")
    return verdict("megabytes that the web process grew by", grown, CLONE_MEGABYTES)


def _clone(address: str, folder: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--bare", address, str(folder)], check=True)


def main() -> bool:
    with tempfile.TemporaryDirectory(dir=os.environ.get("MEMORY_HOME")) as name:
        folder = Path(name)
        small, growth = commits(SMALL, folder / "small.git")
        large, large_growth = commits(LARGE, folder / "large.git")
        print(f"bytes a commit at {LARGE:,} files / at {SMALL:,}: {large_growth / growth:.1f}")
        return clone(folder) and small and large


if __name__ == "__main__":
    os.environ["EMBEDDINGS_PROVIDER"] = "none"
    with scratch_database():
        held = main()
    sys.exit(0 if held else 1)
