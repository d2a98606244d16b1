"""PostgreSQL and Redis are really started here, in a folder whose name has blanks and an umlaut."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import environ
import psycopg
import pytest
import redis
from kombu.connection import Connection as BrokerConnection

from memory_site.embedded import embedded_services, temporary_services
from memory_site.embedded.pids import process_identity
from memory_site.embedded.state import Home


def table_rows(url: str) -> int:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (id int)")
        connection.execute("INSERT INTO kept VALUES (1)")
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 30
    while process_identity(pid) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_both_services_answer_and_end_with_the_block(home: Home) -> None:
    with embedded_services(home.path) as connection:
        pids = [home.pids.running(name) for name in ("postgres", "redis")]
        with psycopg.connect(connection.database_url) as database:
            for extension in ("vector", "pg_trgm"):
                database.execute(f"CREATE EXTENSION {extension}")
            assert database.execute("SELECT lower('ÉÜ'), 'É' ILIKE 'é'").fetchone() == ("éü", True)
            assert database.execute("SHOW listen_addresses").fetchone() == ("",)
        with redis.Redis.from_url(connection.redis_url) as client:
            assert client.ping()
    for pid in pids:
        assert pid is not None
        assert process_identity(pid) is None
    assert not any(path.is_socket() for path in home.run.rglob("*"))


def test_the_urls_suit_django_and_celery(home: Home) -> None:
    with embedded_services(home.path) as connection:
        settings = environ.Env.db_url_config(connection.database_url)
        assert (settings["NAME"], settings["USER"]) == ("memory", "memory")
        with psycopg.connect(dbname=settings["NAME"], user=settings["USER"], **settings["OPTIONS"]) as database:
            assert database.execute("SELECT 1").fetchone() == (1,)
        broker: Any = BrokerConnection
        with broker(connection.redis_url.replace("unix://", "redis+socket://", 1)) as queue:
            queue.ensure_connection(max_retries=1)


def test_rows_survive_a_stop_and_a_crash_of_the_server(home: Home) -> None:
    with embedded_services(home.path) as connection:
        assert table_rows(connection.database_url) == 1
    with embedded_services(home.path) as connection:
        assert table_rows(connection.database_url) == 2
        server = home.pids.running("postgres")
        assert server is not None
        os.kill(server, signal.SIGKILL)
    assert (home.path / "postgres" / "data" / "postmaster.pid").exists()
    with embedded_services(home.path) as connection:
        assert table_rows(connection.database_url) == 3


def test_a_stale_lock_whose_pid_belongs_to_another_program_by_now_is_no_obstacle(home: Home) -> None:
    with embedded_services(home.path):
        server = home.pids.running("postgres")
        assert server is not None
        os.kill(server, signal.SIGKILL)
        wait_until_gone(server)
    lock = home.path / "postgres" / "data" / "postmaster.pid"
    owner = lock.stat().st_uid if os.geteuid() == 0 else None
    with subprocess.Popen(["/bin/sleep", "60"], user=owner) as stranger:
        _, newline, rest = lock.read_text().partition("\n")
        lock.write_text(f"{stranger.pid}{newline}{rest}")
        (home.run / "postgres.pid").write_text(f"{stranger.pid} another-boot:1\n")
        try:
            with embedded_services(home.path) as connection:
                assert table_rows(connection.database_url) == 1
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_supervisor_that_is_killed_is_no_obstacle_for_the_next(home: Home) -> None:
    code = (
        "import sys, time; from pathlib import Path; from memory_site.embedded import embedded_services\n"
        "with embedded_services(Path(sys.argv[1])): print('up', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, home.path], stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        supervisor.stdout.readline()
        old = home.pids.running("postgres")
        supervisor.kill()
    with embedded_services(home.path) as connection:
        assert table_rows(connection.database_url) == 1
        assert old is not None
        assert process_identity(old) is None


def test_an_interrupted_first_start_leaves_no_half_made_database(home: Home) -> None:
    (home.path / "postgres" / "data.new").mkdir(parents=True)
    (home.path / "postgres" / "data.new" / "PG_VERSION").write_text("18\n")
    with embedded_services(home.path) as connection:
        assert table_rows(connection.database_url) == 1


def test_what_the_environment_names_is_not_started(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://elsewhere/memory")
    with embedded_services(home.path) as connection:
        assert connection.database_url == "postgres://elsewhere/memory"
        assert connection.postgres is None
        assert home.pids.running("postgres") is None
        assert home.pids.running("redis") is not None


def test_temporary_services_leave_nothing_behind() -> None:
    with temporary_services() as connection:
        assert connection.postgres is not None
        directory = connection.postgres.directory.parent
        assert table_rows(connection.database_url) == 1
    assert not directory.exists()
    assert not connection.postgres.sockets.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the services as another user")
def test_root_with_a_home_closed_to_others_gets_a_database_elsewhere(
    open_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = open_directory / "var"
    monkeypatch.setattr("memory_site.embedded.placement.ELSEWHERE", elsewhere)
    closed = open_directory / "root"
    closed.mkdir(mode=0o700)
    for count in (1, 2):
        with embedded_services(closed / "home") as connection:
            assert connection.postgres is not None
            assert connection.postgres.directory.is_relative_to(elsewhere)
            assert table_rows(connection.database_url) == count
    assert (closed / "home" / "postgres").is_symlink()
