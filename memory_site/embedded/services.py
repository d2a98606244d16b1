"""Start what the environment does not provide: PostgreSQL without DATABASE_URL, Redis without REDIS_URL."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals

from memory_site.embedded.placement import (
    Programs,
    postgres_directory,
    reachable_programs,
    remove_sockets,
    service_account,
    socket_directory,
    temporary_parent,
)
from memory_site.embedded.postgres import DATABASE, ROLE, Postgres
from memory_site.embedded.processes import Processes
from memory_site.embedded.redis import Redis
from memory_site.embedded.state import Home

READY_SECONDS = 60  # recovery after a crash replays the log first


@dataclass(frozen=True)
class Connection:
    """How the services are reached.

    `postgres` is None when the database is not ours.
    """

    database_url: str
    redis_url: str
    postgres: Postgres | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs in its environment; for an embedded database also what PostgreSQL's own tools read."""
        urls = {"DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url}
        if self.postgres is None:
            return urls
        return {**urls, "PGHOST": str(self.postgres.sockets), "PGUSER": ROLE, "PGDATABASE": DATABASE}

    @property
    def web_environment(self) -> dict[str, str]:
        """What the web server needs: of an embedded database only the rights that requests are served with."""
        if self.postgres is None:
            return self.environment
        return {"DATABASE_URL": self.postgres.application_url, "REDIS_URL": self.redis_url}


def end_leftovers(home: Home) -> list[str]:
    """End what an earlier supervisor, killed before it could, left running; answer the names."""
    home.withdraw_connection()
    return home.pids.end_leftovers(_stop_signal)


def _stop_signal(name: str) -> Signals:
    return SIGINT if name == "postgres" else SIGTERM


def start_services(home: Home, processes: Processes, *, ephemeral: bool = False) -> Connection:
    """Start the services that DATABASE_URL and REDIS_URL do not name, and wait until they answer.

    The caller holds the home's lock and stops the processes. Raises ServiceError with the reason.
    """
    database_url = os.environ.get("DATABASE_URL", "")
    redis_url = os.environ.get("REDIS_URL", "")
    if database_url and redis_url:
        return Connection(database_url, redis_url)
    account = service_account(home.path / "postgres" / "data")
    parent = home.path
    directory = None
    if not database_url:
        directory = postgres_directory(home, account)
        parent = directory.parent
    programs: Programs = reachable_programs(account, parent)
    sockets = socket_directory(home, account)
    postgres = None
    if directory is not None:
        postgres = Postgres(directory, programs.postgres, sockets, home.fresh_log("postgres"), account, ephemeral)
        postgres.prepare(home.pids)
        server = processes.start(postgres.program())
        database_url = postgres.url
    if not redis_url:
        redis = Redis(programs.redis, sockets, home.fresh_log("redis"), account)
        processes.wait_until(processes.start(redis.program()), redis.is_ready, READY_SECONDS)
        redis_url = redis.url
    if postgres is not None:
        processes.wait_until(server, postgres.is_ready, READY_SECONDS)
        postgres.create_database()
    return Connection(database_url, redis_url, postgres)


@contextmanager
def embedded_services(
    home: Path, *, ephemeral: bool = False, pause: Callable[[float], None] = time.sleep
) -> Iterator[Connection]:
    """PostgreSQL and Redis with their state in `home`, for as long as the block runs.

    `ephemeral` trades safety for speed. Raises HomeInUse when other processes use this home, ServiceError when a
    service does not start. To be entered on the main thread: the services end with the thread that started them.
    """
    place = Home(home)
    place.create()
    with place.lock():
        end_leftovers(place)
        processes = Processes(place.pids, pause)
        try:
            yield start_services(place, processes, ephemeral=ephemeral)
        finally:
            processes.stop_all()
            remove_sockets(place)


@contextmanager
def temporary_services(pause: Callable[[float], None] = time.sleep) -> Iterator[Connection]:
    """Empty services in a temporary directory that is removed at the end; DATABASE_URL and REDIS_URL replace them."""
    account = service_account()
    directory = Path(tempfile.mkdtemp(prefix="memory-test-", dir=temporary_parent(account)))
    if account is not None:
        directory.chmod(0o711)
    try:
        with embedded_services(directory, ephemeral=True, pause=pause) as connection:
            yield connection
    finally:
        shutil.rmtree(directory, ignore_errors=True)
