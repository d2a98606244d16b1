"""`bin/up`: everything on this machine, in the foreground, until Ctrl-C."""

import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from memory_site.embedded.errors import ServiceError, StopRequested
from memory_site.embedded.placement import remove_sockets
from memory_site.embedded.processes import Processes, Program, exit_text
from memory_site.embedded.programs import Address, address_from_environment, site_commands
from memory_site.embedded.services import Connection, end_leftovers, start_services
from memory_site.embedded.state import PROJECT, Home
from memory_site.embedded.supervisor import RestartLimit, StopSignals, say, watch

WEB_READY_SECONDS = 120  # the first start loads the embedding model from a cold disk


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
    commands = site_commands(home, address)

    def program(name: str, log: Path | None, stop_seconds: float = 10) -> Program:
        return Program(name, commands[name], environment, PROJECT, log=log, stop_seconds=stop_seconds)

    def web_program() -> Program:
        served_with = {**environment, **connection.web_environment}
        for name in connection.environment.keys() - connection.web_environment.keys():
            del served_with[name]
        return Program("web", commands["web"], served_with, PROJECT)

    migrate = processes.run(program("migrate", home.fresh_log("migrate")))
    code = migrate.exit_code()
    if code:
        raise ServiceError(f"migrate failed ({exit_text(code)}).{migrate.last_words()}")
    home.publish_connection({**connection.environment, "SECRET_KEY": environment["SECRET_KEY"]})
    # They are stopped the other way round: first nobody asks, then nothing works, then nothing is planned.
    processes.start(program("beat", home.fresh_log("beat"), stop_seconds=5))
    processes.start(program("worker", home.fresh_log("worker")))
    web = processes.start(web_program())
    processes.wait_until(web, lambda: _answers(f"{address.url}/livez"), WEB_READY_SECONDS, every_seconds=0.25)
    if connection.postgres is not None:
        _make_demo(processes, program("demo", log=None), connection.postgres.directory / "demo-created")
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
