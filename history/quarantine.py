"""Where a push is unpacked: a repository of its own that borrows the mirror's objects and is thrown away in the end."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.errors import Invalid
from core.text import excerpt
from history import git
from history.models import MAIN
from history.objects import FILE_MODE
from history.paths import validate_path
from history.services.commits import MAXIMUM_FILE_BYTES
from history.services.push import MAXIMUM_FILES, MAXIMUM_MESSAGE, too_large
from history.trees import differing

_MOST_CONTENT_BYTES = 64 * 2**20
_MOST_COMMITS = 100
_KINDS = {0o120000: "a symbolic link", 0o160000: "a submodule", 0o100755: "an executable"}


@dataclass(frozen=True)
class Pushed:
    """What a push would change: path to new content, None for files that are gone; and what its commits say."""

    changes: dict[str, bytes | None]
    message: str


class Quarantine:
    """The repository that receives one push; `base` is the commit that main stood at, or None."""

    def __init__(self, path: Path, base: str | None) -> None:
        self.path = path
        self.base = base

    @property
    def received(self) -> str | None:
        """Where main stands in it now."""
        said = git.run(self.path, "for-each-ref", "--format=%(objectname)", MAIN).decode().strip()
        return said or None

    def read(self, received: str) -> Pushed:
        """The difference between `base` and what was received. Raises `Invalid` for anything but plain files of a
        bounded size and number."""
        blobs = self._differing(received)
        sizes = self._sizes([oid for oid in blobs.values() if oid is not None])
        for path, oid in blobs.items():
            if oid is not None and sizes[oid] > MAXIMUM_FILE_BYTES:
                raise too_large(path)
        if sum(sizes.values()) > _MOST_CONTENT_BYTES:
            raise _too_much()
        contents = self._contents(list(sizes))
        changes = {path: contents[oid] if oid is not None else None for path, oid in blobs.items()}
        return Pushed(changes, self._message(received))

    def _differing(self, received: str) -> dict[str, str | None]:
        """Path and new blob of each file that differs."""
        roots = [self._root(commit) if commit is not None else None for commit in (self.base, received)]
        blobs: dict[str, str | None] = {}
        try:
            for path, _, now in differing(self._read_trees, *roots, most_folders=MAXIMUM_FILES):
                if len(blobs) == MAXIMUM_FILES:
                    raise Invalid(f"At most {MAXIMUM_FILES:,} files are taken in one push.")
                if now is not None and now.mode != FILE_MODE:
                    kind = _KINDS.get(now.mode, f"of mode {now.mode:o}")
                    raise Invalid(f"“{excerpt(path, 200)}” is {kind}; only plain files are taken.")
                blobs[validate_path(path)] = now.oid.hex() if now is not None else None
        except UnicodeDecodeError:
            raise Invalid("A file's name is not UTF-8 text.") from None
        return blobs

    def _root(self, commit: str) -> bytes:
        return bytes.fromhex(git.run(self.path, "rev-parse", f"{commit}^{{tree}}").decode().strip())

    def _read_trees(self, oids: Iterable[bytes]) -> dict[bytes, bytes]:
        return {bytes.fromhex(oid): body for oid, body in self._contents([oid.hex() for oid in oids]).items()}

    def _sizes(self, oids: list[str]) -> dict[str, int]:
        said = git.run(self.path, "cat-file", "--batch-check", stdin=_lines(oids))
        return {oid: int(size) for oid, _, size in (line.split(" ") for line in said.decode().splitlines())}

    def _contents(self, oids: list[str]) -> dict[str, bytes]:
        said = git.run(self.path, "cat-file", "--batch", stdin=_lines(oids), most=2 * _MOST_CONTENT_BYTES)
        if len(said) > 2 * _MOST_CONTENT_BYTES:
            raise _too_much()
        contents = {}
        position = 0
        while position < len(said):
            end = said.index(b"\n", position)
            oid, _, size = said[position:end].decode().split(" ")
            contents[oid] = said[end + 1 : end + 1 + int(size)]
            position = end + 1 + int(size) + 1
        return contents

    def _message(self, received: str) -> str:
        """What the pushed commits say, oldest first."""
        span = [received] if self.base is None else [f"{self.base}..{received}"]
        arguments = ["log", "--reverse", f"--max-count={_MOST_COMMITS}", "--format=%B", "--encoding=UTF-8", *span]
        return git.run(self.path, *arguments, most=MAXIMUM_MESSAGE * 4).decode("utf-8", "replace").strip()


def _too_much() -> Invalid:
    return Invalid(f"At most {_MOST_CONTENT_BYTES // 2**20} MB of files are taken in one push.")


def _lines(oids: list[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()


@contextmanager
def quarantine(mirror: Path) -> Iterator[Quarantine]:
    """A quarantine beside a mirror, standing where the mirror stands."""
    path = Path(tempfile.mkdtemp(prefix="push-", dir=mirror.parent))
    try:
        git.run(path, "init", "--quiet", "--bare", "--template=", "--initial-branch=main")
        alternates = path / "objects/info/alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{mirror / 'objects'}\n")
        standing = mirror / MAIN
        base = standing.read_text().strip() if standing.exists() else None
        if base is not None:
            (path / MAIN).parent.mkdir(parents=True, exist_ok=True)
            (path / MAIN).write_text(f"{base}\n")
        yield Quarantine(path, base)
    finally:
        shutil.rmtree(path, ignore_errors=True)
