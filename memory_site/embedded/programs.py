"""The command lines of the site's own programs, the same on one machine, in a container and under systemd."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.state import PROJECT, Home


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


def manage(*arguments: str) -> list[str]:
    """The command line of one management command."""
    return [sys.executable, str(PROJECT / "manage.py"), *arguments]


def site_commands(home: Home, address: Address) -> dict[str, list[str]]:
    """The command line of each program by its name; all are to be run in the project's folder."""
    celery = [sys.executable, "-m", "celery", "-A", "memory_site"]
    return {
        "migrate": manage("migrate", "--no-input"),
        "demo": manage("demo"),
        "beat": [*celery, "beat", "--loglevel", "INFO", "--pidfile", "", "--schedule", str(home.beat / "schedule")],
        "worker": [
            *celery,
            "worker",
            *["--concurrency", "2", "--loglevel", "INFO", "--without-gossip", "--without-mingle"],
        ],
        "web": [
            *(sys.executable, "-m", "uvicorn", "memory_site.asgi:application"),
            *("--host", address.host, "--port", str(address.port)),
            *["--loop", "uvloop", "--http", "httptools", "--ws", "none", "--lifespan", "on", "--no-server-header"],
            # TRUSTED_PROXIES decides whose forwarding headers count; uvicorn would believe every local program.
            *["--no-access-log", "--no-proxy-headers", "--timeout-graceful-shutdown", "5"],
        ],
    }


def become(name: str, home: Home) -> None:
    """Replace this process by one of the site's programs; whoever started it supervises it.

    Raises ServiceError for an unknown name.
    """
    commands = site_commands(home, address_from_environment())
    if name not in commands:
        raise ServiceError(f"There is no program {name!r}; there are {', '.join(sorted(commands))}.")
    home.create()
    os.chdir(PROJECT)
    become_command(commands[name], os.environ)


def become_command(command: Sequence[str], environment: "os._Environ[str] | dict[str, str]") -> None:
    """Replace this process by a command.

    Raises ServiceError when there is no such command.
    """
    try:
        os.execvpe(command[0], list(command), environment)  # noqa: S606 - an argument list, no shell
    except FileNotFoundError as error:
        raise ServiceError(f"There is no command {command[0]!r}.") from error
