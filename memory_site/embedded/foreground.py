"""`bin/manage`, `bin/run` and `bin/test`: one command at the terminal, with services for as long as it runs."""

import contextlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from memory_site.embedded.errors import HomeInUse, ServiceError, StopRequested
from memory_site.embedded.placement import installed_programs
from memory_site.embedded.programs import become_command
from memory_site.embedded.services import embedded_services, temporary_services
from memory_site.embedded.state import PROJECT, Home
from memory_site.embedded.supervisor import StopSignals, say
from memory_site.embedded.up import site_environment

# How long another command may take to start the services that we wait for, and a stopped command to end.
OTHERS_START_SECONDS = 90
COMMAND_STOP_SECONDS = 20


def run_with_services(home: Home, command: Sequence[str]) -> int:
    """Run a command with the services of this home: those that run, or else those it needs, stopped afterwards.

    Answers the command's exit code. Raises ServiceError when the services cannot be reached or started.
    """
    home.create()
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        own_key = {"SECRET_KEY": os.environ.get("SECRET_KEY") or home.secret_key()}
        become_command(command, _with_tools({**os.environ, **own_key}))
    deadline = time.monotonic() + OTHERS_START_SECONDS
    while True:
        try:
            with StopSignals() as signals, embedded_services(home.path, pause=signals.pause) as connection:
                environment = site_environment(home, connection, os.environ)
                home.publish_connection({**connection.environment, "SECRET_KEY": environment["SECRET_KEY"]})
                try:
                    return _wait_for(command, environment, signals)
                finally:
                    home.withdraw_connection()
                    home.await_borrowers(lambda: say("waiting for another command that uses the same services."))
        except HomeInUse as in_use:
            borrowed = home.borrow()
            published = home.published_connection()
            if published is not None:
                given = {name: value for name, value in os.environ.items() if value}
                become_command(command, _with_tools({**published, **given, "MEMORY_HOME": str(home.path)}))
            borrowed.close()
            if time.monotonic() > deadline:
                raise ServiceError(f"{in_use} Its services did not become ready.") from in_use
            time.sleep(0.2)
        except StopRequested:
            return 130


def run_tests(arguments: Sequence[str]) -> int:
    """Run pytest in the project with empty services of its own; answer its exit code."""
    try:
        with StopSignals() as signals, temporary_services(signals.pause) as connection:
            environment = {
                **os.environ,
                **connection.environment,
                "SECRET_KEY": os.environ.get("SECRET_KEY") or secrets.token_urlsafe(50),
            }
            return _wait_for([sys.executable, "-m", "pytest", *arguments], environment, signals, directory=str(PROJECT))
    except StopRequested:
        return 130


def _with_tools(environment: Mapping[str, str]) -> dict[str, str]:
    """Our own python comes first, then psql and pg_dump of the server's own version."""
    folders = [os.path.dirname(sys.executable)]  # noqa: PTH120 - a path of the environment, not one to work with
    with contextlib.suppress(ServiceError):
        folders.append(str(installed_programs().postgres))
    return {**environment, "PATH": os.pathsep.join([*folders, environment.get("PATH", os.defpath)])}


def _wait_for(
    command: Sequence[str], environment: Mapping[str, str], signals: StopSignals, directory: str | None = None
) -> int:
    """Run the command in our own process group, so that Ctrl-C reaches it, and wait for its end.

    A TERM or HUP sent to us is passed on; a command that does not heed it is killed after a while.
    """
    try:
        child = subprocess.Popen(command, env=_with_tools(environment), cwd=directory)
    except FileNotFoundError as error:
        raise ServiceError(f"There is no command {command[0]!r}.") from error
    kill_at: float | None = None
    while child.poll() is None:
        try:
            signals.pause(60 if kill_at is None else 1)
        except StopRequested as request:
            # The terminal has sent INT to the command as well, and it is the command's to decide what that means.
            if str(request) != "SIGINT":
                child.terminate()
                kill_at = time.monotonic() + COMMAND_STOP_SECONDS
        if kill_at is not None and time.monotonic() > kill_at:
            child.kill()
    code = child.returncode
    return code if code >= 0 else 128 - code
