"""`bin/up` as a newcomer meets it: started, crashed, killed and stopped, in a folder with blanks and an umlaut."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

from memory_site.embedded.pids import process_identity
from memory_site.embedded.state import PROJECT, Home

pytestmark = pytest.mark.slow

SERVICES = ("beat", "postgres", "redis", "web", "worker")


class Up:
    """One run of `bin/up`."""

    def __init__(self, home: Home, port: int) -> None:
        self.home = home
        self.port = port
        self.output_path = home.path.parent / f"output-{time.monotonic_ns()}"
        with self.output_path.open("wb") as output:
            self.process = subprocess.Popen(
                [PROJECT / "bin" / "up"],
                env=environment(home, port),
                cwd="/",
                stdout=output,
                stderr=output,
                process_group=0,
            )

    @property
    def output(self) -> str:
        return self.output_path.read_text(encoding="utf-8", errors="replace")

    def wait_until_ready(self) -> "Up":
        wait_for(lambda: "memory: ready after" in self.output or self.process.poll() is not None, self)
        assert self.process.poll() is None, self.output
        return self

    def pids(self) -> dict[str, int]:
        """The services that run now, by name."""
        return {name: pid for name in SERVICES if (pid := self.home.pids.running(name)) is not None}

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/livez", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(60)


def environment(home: Home, port: int) -> Mapping[str, str]:
    """What a newcomer's shell has, and nothing of the test runner's."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHON") if name in os.environ}
    # The model is not what is tested here, and loading it would take most of the time.
    return {**kept, "MEMORY_HOME": str(home.path), "MEMORY_PORT": str(port), "EMBEDDINGS_PROVIDER": "none"}


def wait_for(condition: Callable[[], bool], up: Up) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, up.output
        time.sleep(0.05)


def descendants(pid: int) -> set[int]:
    """All processes below this one now."""
    listing = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in (line.split() for line in listing.splitlines())}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def start(port: int) -> Iterator[Callable[[], Up]]:
    """Starts `bin/up` on one home and port; whatever a test leaves running is stopped."""
    directory = Path(tempfile.mkdtemp(prefix="memory up ü "))
    directory.chmod(0o711)  # pytest's own directories are closed to root's database user
    started: list[Up] = []

    def start_one() -> Up:
        started.append(Up(Home(directory / "home"), port))
        return started[-1]

    yield start_one
    for up in started:
        if up.process.poll() is None:
            up.stop()
    shutil.rmtree(directory)


def test_a_first_start_shows_the_keys_and_term_leaves_nothing_behind(start: Callable[[], Up], port: int) -> None:
    up = start().wait_until_ready()
    assert up.answers()
    assert sorted(up.pids()) == list(SERVICES)
    assert (
        f'claude mcp add --transport http memory http://127.0.0.1:{port}/mcp --header "X-Api-Key: <key>"' in up.output
    )
    assert "mmcp_" in up.output
    assert "is started again" not in up.output
    # The web server cannot become the owner of the tables.
    web = Path(f"/proc/{up.pids()['web']}/environ").read_bytes()
    assert b"DATABASE_URL=postgres://memory_app@/" in web
    assert b"PGUSER" not in web
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
        assert b'"isolation": "ok"' in answer.read()
    everything = descendants(up.process.pid)
    assert len(everything) > len(SERVICES)
    assert up.stop() == 0
    assert [pid for pid in everything if process_identity(pid)] == []
    assert list(up.home.run.glob("*.pid")) == []


def test_a_killed_supervisor_is_no_obstacle_and_keys_are_shown_only_once(start: Callable[[], Up]) -> None:
    up = start().wait_until_ready()
    everything = descendants(up.process.pid)
    up.process.kill()
    up.process.wait()
    again = start().wait_until_ready()
    assert [pid for pid in everything if process_identity(pid)] == []
    assert again.answers()
    assert "mmcp_" not in again.output
    assert again.stop() == 0


def test_crashed_services_come_back(start: Callable[[], Up]) -> None:
    up = start().wait_until_ready()
    before = up.pids()
    for name in ("postgres", "web"):
        os.kill(before[name], signal.SIGKILL)
    wait_for(lambda: up.pids().keys() == before.keys() and up.answers(), up)
    assert {name for name, pid in up.pids().items() if before[name] != pid} >= {"postgres", "web"}
    published = up.home.published_connection()
    assert published is not None

    def rows_are_there() -> bool:
        try:
            with psycopg.connect(published["DATABASE_URL"]) as connection:
                return connection.execute("SELECT count(*) > 0 FROM django_migrations").fetchone() == (True,)
        except psycopg.OperationalError:
            return False

    wait_for(rows_are_there, up)


def test_a_second_start_is_refused_and_commands_use_the_first(start: Callable[[], Up], port: int) -> None:
    up = start().wait_until_ready()
    second = start()
    assert second.process.wait(60) == 1
    assert f"is already in use by process {up.process.pid}" in second.output
    check = subprocess.run(
        [PROJECT / "bin" / "manage", "migrate", "--check"],
        env=environment(up.home, port),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert check.returncode == 0, check.stderr
    assert up.answers()


def test_a_busy_port_is_named_before_anything_is_started(start: Callable[[], Up], port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        up = start()
        assert up.process.wait(60) == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in up.output
    assert "set MEMORY_PORT" in up.output
    assert not (up.home.path / "postgres").exists()
