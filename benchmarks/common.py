"""What the benchmarks share: a scratch database, the real server in a process of its own, and timing.

Every benchmark compares two things measured in the same run and prints a ratio; the absolute times of a busy machine
mean little. They run with the services of this machine: `bin/run python -m benchmarks.NAME`.
"""

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
_START_SECONDS = 90


def prepare() -> None:
    """Make a scratch database, point Django at it and migrate. Call before importing any model."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    os.environ.setdefault("SECRET_KEY", "only-for-benchmarks-and-never-for-anything-else")
    os.environ["RATE_LIMIT_ENABLED"] = "0"
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    url = os.environ["DATABASE_URL"]
    name = f"memory_benchmark_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    address, question, options = url.partition("?")
    os.environ["DATABASE_URL"] = f"{address[: address.rindex('/')]}/{name}{question}{options}"
    os.environ["BENCHMARK_DROP"] = json.dumps([url, name])
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def clean_up() -> None:
    """Drop the scratch database."""
    from django.db import connections

    for used in connections.all():
        used.close()
        if hasattr(used, "close_pool"):
            used.close_pool()
    url, name = json.loads(os.environ["BENCHMARK_DROP"])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def scratch_database() -> Iterator[None]:
    prepare()
    try:
        yield
    finally:
        clean_up()


@contextmanager
def server(application: str = "memory_site.asgi:application") -> Iterator["Server"]:
    """The web server, started as `bin/up` starts it, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", application, "--port", str(port), "--loop", "uvloop"]
    command += ["--http", "httptools", "--ws", "none", "--no-access-log", "--log-level", "warning"]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ.copy()) as process:
        try:
            running = Server(port, process.pid)
            running.wait(process)
            yield running
        finally:
            process.terminate()
            process.wait(20)


class Server:
    """A running web server, and calls to it over kept-alive connections."""

    def __init__(self, port: int, pid: int) -> None:
        self.port = port
        self.pid = pid

    def wait(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/livez")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("The server did not start.")

    def resident_megabytes(self) -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no VmRSS: this figure is measured on Linux")

    def caller(self, key: str) -> "Caller":
        return Caller(self.port, key)


class Caller:
    """One client: MCP tool calls of the 2026-07-28 protocol over one connection."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._key = key

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result; raises when the call failed."""
        body = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {
                    "name": tool,
                    "arguments": arguments,
                    "_meta": {
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
                        "io.modelcontextprotocol/clientCapabilities": {},
                    },
                },
            }
        )
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "X-Api-Key": self._key,
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        self._connection.request("POST", "/mcp", body, headers)
        answer = self._connection.getresponse()
        payload = json.loads(answer.read() or b"{}")
        if answer.status != 200 or "error" in payload or payload["result"].get("isError"):
            raise RuntimeError(f"{tool} failed: {answer.status} {json.dumps(payload)[:500]}")
        result: dict[str, Any] = payload["result"]
        return result


def milliseconds(action: Callable[..., object], *arguments: Any, **named: Any) -> float:
    """How long one call of `action` takes."""
    started = time.perf_counter()
    action(*arguments, **named)
    return (time.perf_counter() - started) * 1000


def quantiles(times: list[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    ordered = sorted(times)
    return statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]


def verdict(name: str, value: float, limit: float, *, at_most: bool = True) -> bool:
    """Print one line with the limit and whether it holds."""
    holds = value <= limit if at_most else value >= limit
    print(f"{name}: {value:.2f} ({'at most' if at_most else 'at least'} {limit:g}) {'ok' if holds else 'NOT MET'}")
    return holds
