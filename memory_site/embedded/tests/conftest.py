import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_site.embedded.processes import Processes, Program
from memory_site.embedded.state import PROJECT, Home


@pytest.fixture(autouse=True)
def services_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "PGHOST", "PGUSER", "PGDATABASE", "SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    # What these tests start as a program of its own finds the project from any folder.
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that root's database user can reach, which pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="memory-home-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture
def home(open_directory: Path) -> Home:
    home = Home(open_directory / "blanks and ü")
    home.create()
    return home


@pytest.fixture
def processes(home: Home) -> Iterator[Processes]:
    processes = Processes(home.pids)
    yield processes
    processes.stop_all()


def python(name: str, code: str, directory: Path, *, stop_seconds: float = 5) -> Program:
    """A program of a few lines; what it prints goes to `<name>.log` in the directory."""
    command = [sys.executable, "-u", "-c", code]
    return Program(name, command, {}, directory, log=directory / f"{name}.log", stop_seconds=stop_seconds)
