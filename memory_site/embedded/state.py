"""MEMORY_HOME: the directory that holds everything one installation must keep.

secret-key        Django's SECRET_KEY, made on the first start
postgres/         the database (a link when the database's system user cannot reach MEMORY_HOME)
logs/             one file per service, the previous one beside it
run/              lock, pid files, sockets, the addresses of the running services
beat/             when the periodic tasks last ran
"""

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from memory_site.embedded.errors import HomeInUse, ServiceError
from memory_site.embedded.pids import PidFiles

PROJECT = Path(__file__).resolve().parents[2]


def home_from_environment() -> "Home":
    """The directory named by MEMORY_HOME, `.memory` in the project without it."""
    return Home(Path(os.environ.get("MEMORY_HOME") or PROJECT / ".memory").expanduser().absolute())


class Home:
    """The layout of one MEMORY_HOME, and who may use it right now."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = path / "run"
        self.logs = path / "logs"
        self.beat = path / "beat"
        self.pids = PidFiles(self.run)
        self._connection = self.run / "connection.json"

    def create(self) -> None:
        """Make the directories that are missing.

        Raises ServiceError when another user owns them.
        """
        # As root, the database runs as another user that must pass through; what is private below has its own mode.
        passable = 0o711 if os.geteuid() == 0 else 0o700
        try:
            for directory, mode in (
                (self.path, passable),
                (self.run, passable),
                (self.logs, 0o700),
                (self.beat, 0o700),
            ):
                if not directory.is_dir():
                    directory.mkdir(parents=directory == self.path)
                    directory.chmod(mode)
            (self.run / "lock").touch(mode=0o600)
            (self.run / "users").touch(mode=0o600)
        except PermissionError as error:
            raise ServiceError(
                f"{error.filename} cannot be written: start as the user who owns it, or choose another MEMORY_HOME."
            ) from error
        except OSError as error:
            raise ServiceError(f"MEMORY_HOME cannot be made at {self.path}: {error.strerror}.") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold this MEMORY_HOME alone; the kernel lets go when the process ends, however it ends.

        Raises HomeInUse when another process holds it.
        """
        with self._open(self.run / "lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = file.read().strip() or "unknown"
                raise HomeInUse(
                    f"MEMORY_HOME {self.path} is already in use by process {holder}: stop that one first, "
                    "or set MEMORY_HOME and MEMORY_PORT to others for a second installation."
                ) from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    def borrow(self) -> IO[str]:
        """Keep services that another command started alive while the answer stays open (inherited on exec)."""
        file = self._open(self.run / "users")
        fcntl.flock(file, fcntl.LOCK_SH)
        os.set_inheritable(file.fileno(), True)
        return file

    def await_borrowers(self, before_waiting: Callable[[], None]) -> None:
        """Return when nobody borrows the services any more; the callable is told when that takes a while."""
        with self._open(self.run / "users") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                before_waiting()
                fcntl.flock(file, fcntl.LOCK_EX)

    def secret_key(self) -> str:
        """Django's SECRET_KEY; made once, readable only by the owner."""
        path = self.path / "secret-key"
        if not path.exists():
            fresh = path.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(50))
            fresh.rename(path)
        return path.read_text(encoding="ascii").strip()

    def publish_connection(self, environment: dict[str, str]) -> None:
        """Tell other commands how to reach the running services; the URLs may hold passwords."""
        fresh = self._connection.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(environment, file)
        fresh.rename(self._connection)

    def withdraw_connection(self) -> None:
        self._connection.unlink(missing_ok=True)

    def published_connection(self) -> dict[str, str] | None:
        """What `publish_connection` wrote, None while no services run."""
        try:
            published: dict[str, str] = json.loads(self._connection.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return published

    def fresh_log(self, name: str) -> Path:
        """The log file of a service, empty; the one of the last run is kept as `<name>.1.log`."""
        path = self.logs / f"{name}.log"
        if path.exists():
            path.rename(self.logs / f"{name}.1.log")
        path.touch(mode=0o600)
        return path

    @staticmethod
    def _open(path: Path) -> IO[str]:
        try:
            return path.open("r+", encoding="ascii")
        except PermissionError:
            raise ServiceError(
                f"{path} belongs to another user: start as that user, or choose another MEMORY_HOME."
            ) from None
