"""Bare repositories on the disk of this machine, filled from rows: the cache that git serves from, and exports.

    path = updated_mirror(space.id)          # MEMORY_HOME/git/<id>.git, at the head that the rows have now

A mirror holds nothing of its own: it may be deleted at any time, and whatever does not fit the rows is made anew.
"""

import fcntl
import logging
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from core.database import release_connection
from core.errors import Conflict, Invalid
from history import git, store
from history.models import MAIN, Commit
from history.packs import write_pack
from history.store import Head
from spaces.isolation import bound

logger = logging.getLogger(__name__)

# So many packs, each of them one update, are put together into few.
_MOST_PACKS = 20
_DESCRIPTION = "A copy of rows in the database; it may be deleted at any time.\n"


def mirrors_folder() -> Path:
    return Path(settings.MEMORY_HOME) / "git"


def _path(space_id: uuid.UUID) -> Path:
    return mirrors_folder() / f"{space_id}.git"


def updated_mirror(space_id: uuid.UUID) -> Path:
    """The mirror of a space, brought up to date. No connection is held, and no transaction open, while git works.

    Raises `GitUnavailable` when git is missing or fails.
    """
    path = _path(space_id)
    head = _head(space_id)
    if _standing_at(path) == (head.oid.hex() if head.oid else "") and path.exists():
        return path
    with _locked(path):
        _bring_up(path, space_id, _head(space_id))
    return path


def forget_mirror(space_id: uuid.UUID) -> None:
    """Delete this machine's mirror; other machines make theirs anew when they find that its head is unknown."""
    path = _path(space_id)
    if path.exists():
        with _locked(path):
            shutil.rmtree(path, ignore_errors=True)


def export(space_id: uuid.UUID, path: Path) -> int:
    """Write the history of a space into a new bare repository; returns the number of its commits.

    Raises `Conflict` when there is something at `path` already, `GitUnavailable` when git is missing.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise Conflict(f"{path} exists already; name a folder that does not.")
    if not path.parent.is_dir():
        raise Invalid(f"There is no folder {path.parent}.")
    head = _head(space_id)
    _create(path, "The history of a space, exported.\n")
    _add(path, space_id, 0, head)
    return head.sequence


def _head(space_id: uuid.UUID) -> Head:
    with bound(space_id):
        return store.read_head(space_id)


def _standing_at(path: Path) -> str:
    """The commit that a repository's main stands at, as text; empty when it has none."""
    try:
        return (path / MAIN).read_text().strip()
    except FileNotFoundError:
        return ""


def _bring_up(path: Path, space_id: uuid.UUID, head: Head) -> None:
    """Fetch what the mirror lacks, or make it anew where it holds what the rows do not know."""
    have = _standing_at(path)
    with bound(space_id):
        known = Commit.objects.filter(space_id=space_id, oid=bytes.fromhex(have)).first() if have else None
    release_connection()
    if path.exists() and (known is not None or not have):
        try:
            _add(path, space_id, known.sequence if known is not None else 0, head)
        except git.GitUnavailable:
            git.command()
            logger.exception("the mirror %s is made anew", path)
        else:
            return
    # Built beside the old one, so that clones are served from it until the last moment.
    fresh = Path(tempfile.mkdtemp(prefix=f"{path.name}.", dir=path.parent))
    try:
        _create(fresh, _DESCRIPTION)
        _add(fresh, space_id, 0, head)
        shutil.rmtree(path, ignore_errors=True)
        fresh.rename(path)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _create(path: Path, description: str) -> None:
    path.mkdir(parents=True, exist_ok=True)
    git.run(path, "init", "--quiet", "--bare", "--template=", "--initial-branch=main")
    (path / "description").write_text(description)


def _add(path: Path, space_id: uuid.UUID, after: int, head: Head) -> None:
    if head.oid is None or head.sequence <= after:
        return
    with tempfile.TemporaryDirectory(dir=path, prefix="incoming-") as folder:
        pack = Path(folder) / "incoming.pack"
        with bound(space_id):
            write_pack(pack, space_id, after, head.sequence)
        release_connection()
        with pack.open("rb") as file:
            git.run(path, "index-pack", "--stdin", "--threads=1", stdin=file)
    reference = path / MAIN
    reference.parent.mkdir(parents=True, exist_ok=True)
    moved = reference.with_name("main.new")
    moved.write_text(f"{head.oid.hex()}\n")
    moved.replace(reference)
    if len(list((path / "objects/pack").glob("*.pack"))) > _MOST_PACKS:
        git.run(path, "-c", "pack.threads=1", "repack", "--geometric=2", "-d", "--quiet")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time works on a mirror; the others wait for it and then find the work done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    release_connection()
    with path.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
