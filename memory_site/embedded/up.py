"""`bin/up`: everything on this machine, in the foreground, until Ctrl-C."""

import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_site.embedded.errors import ServiceError, StopRequested
from memory_site.embedded.placement import remove_sockets
from memory_site.embedded.processes import Processes, Program, exit_text
from memory_site.embedded.services import Connection, end_leftovers, start_services
from memory_site.embedded.state import PROJECT, Home
from memory_site.embedded.supervisor import RestartLimit, StopSignals, say, watch

WEB_READY_SECONDS = 120  # the first start loads the embedding model from a cold disk


@dataclass(frozen=True)
class Address:
    """Where the web server listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """For a browser or client on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - shown, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def address_from_environment() -> Address:
    """MEMORY_HOST and MEMORY_PORT.

    Raises ServiceError when the port is no port.
    """
    host = os.environ.get("MEMORY_HOST") or "127.0.0.1"
    port = os.environ.get("MEMORY_PORT") or "8000"
    if not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        raise ServiceError(f"MEMORY_PORT must be a number from 1 to 65535, not {port!r}.")
    return Address(host, int(port))


def require_free(address: Address) -> None:
    """Raises ServiceError when another program listens on the address, or it is not one of this machine."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, name = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(name)
            probe.listen()
    except OSError as error:
        raise ServiceError(
            f"The web server cannot listen on {address.host} port {address.port} ({error.strerror}): stop the program "
            "that uses it, or set MEMORY_PORT (and MEMORY_HOST) to another, for example MEMORY_PORT=8001 bin/up."
        ) from error


@dataclass(frozen=True)
class Site:
    """The programs of one start: `setup` run to their end in turn, `demo` on the first, `children` stay; web comes last."""

    setup: Sequence[Program]
    demo: Program | None
    children: Sequence[Program]


def memory_site(home: Home, environment: Mapping[str, str], address: Address) -> Site:
    """Migrations, demo data, then beat, worker and web; they are stopped the other way round."""

    def python(name: str, *arguments: str, log: Path | None, stop_seconds: float = 10) -> Program:
        return Program(name, [sys.executable, *arguments], environment, PROJECT, log=log, stop_seconds=stop_seconds)

    manage = str(PROJECT / "manage.py")
    celery = ("-m", "celery", "-A", "memory_site")
    worker = (*celery, "worker", "--concurrency", "2", "--loglevel", "INFO", "--without-gossip", "--without-mingle")
    beat = (*celery, "beat", "--loglevel", "INFO", "--pidfile", "", "--schedule", str(home.beat / "schedule"))
    web = (
        *("-m", "uvicorn", "memory_site.asgi:application", "--host", address.host, "--port", str(address.port)),
        *("--loop", "uvloop", "--http", "httptools", "--ws", "none", "--lifespan", "on", "--no-server-header"),
        # TRUSTED_PROXIES decides whose forwarding headers count; uvicorn would believe every program on this machine.
        *("--no-proxy-headers", "--timeout-graceful-shutdown", "5"),
    )
    return Site(
        setup=[python("migrate", manage, "migrate", "--no-input", log=home.fresh_log("migrate"))],
        demo=python("demo", manage, "demo", log=None),
        children=[
            python("beat", *beat, log=home.fresh_log("beat"), stop_seconds=5),
            python("worker", *worker, log=home.fresh_log("worker")),
            python("web", *web, log=None),
        ],
    )


def up(home: Home) -> int:
    """Run everything until a signal or a hopeless failure; answer the exit code.

    Raises ServiceError when nothing could be started.
    """
    address = address_from_environment()
    home.create()
    with home.lock(), StopSignals() as signals:
        for name in end_leftovers(home):
            say(f"ended {name}, left over from a start that was killed.")
        require_free(address)
        processes = Processes(home.pids, signals.pause)
        try:
            _run(home, processes, address)
        except StopRequested:
            say("stopping.")
            code = 0
        except ServiceError as error:
            say(str(error))
            code = 1
        finally:
            home.withdraw_connection()
            processes.stop_all()
            remove_sockets(home)
    say("stopped.")
    return code


def _run(home: Home, processes: Processes, address: Address) -> None:
    started = time.monotonic()
    connection = start_services(home, processes)
    environment = site_environment(home, connection, os.environ)
    site = memory_site(home, environment, address)
    for program in site.setup:
        ended = processes.run(program)
        code = ended.exit_code()
        if code:
            raise ServiceError(f"{program.name} failed ({exit_text(code)}).{ended.last_words()}")
    home.publish_connection({**connection.environment, "SECRET_KEY": environment["SECRET_KEY"]})
    for program in site.children:
        child = processes.start(program)
    processes.wait_until(child, lambda: _answers(f"{address.url}/livez"), WEB_READY_SECONDS, every_seconds=0.25)
    if site.demo is not None and connection.postgres is not None:
        _make_demo(processes, site.demo, connection.postgres.directory / "demo-created")
    say(_welcome(home, address, time.monotonic() - started))
    watch(processes, RestartLimit())


def site_environment(home: Home, connection: Connection, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of every program of the site."""
    return {
        **base,
        **connection.environment,
        "MEMORY_HOME": str(home.path),
        "SECRET_KEY": base.get("SECRET_KEY") or home.secret_key(),
        "PYTHONUNBUFFERED": "1",
    }


def _make_demo(processes: Processes, program: Program, marker: Path) -> None:
    """Once per database; the command prints the login and the keys, which nothing can show again."""
    if marker.exists():
        return
    code = processes.run(program).exit_code()
    if code:
        say(f"the demo data could not be made ({exit_text(code or 0)}); `bin/manage demo` tries again.")
    else:
        marker.touch()


def _answers(url: str) -> bool:
    # No proxy of the environment stands between us and ourselves.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _welcome(home: Home, address: Address, seconds: float) -> str:
    return f"""ready after {seconds:.0f} seconds.

    Web and admin     {address.url}/admin/
    MCP server        {address.url}/mcp
    REST              {address.url}/api/v1/docs
    State and logs    {home.path}

    Connect a client, with a key shown on the first start or made in the admin:
      claude mcp add --transport http memory {address.url}/mcp --header "X-Api-Key: <key>"

    Ctrl-C stops everything.
"""
