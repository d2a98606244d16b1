"""Running the program git, which serves clones and checks what is pushed; everything else works without it."""

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO

from core.errors import AppError

# What belongs to a request is far quicker; this is for a mirror of millions of objects.
TIMEOUT_SECONDS = 600
_MOST_COMPLAINT = 500


class GitUnavailable(AppError):
    """The program is not there, or it failed at something that is no caller's fault."""

    code = "git_unavailable"


def command(*arguments: str) -> list[str]:
    """The command line of `git ARGUMENTS`. Raises `GitUnavailable` when the program is not installed."""
    program = shutil.which("git")
    if program is None:
        raise GitUnavailable("git is not installed on this server; an administrator can add it (apt-get install git).")
    return [program, *arguments]


def environment(**settings: str) -> dict[str, str]:
    """Variables under which git does the same on every machine; `settings` are its configuration, `a.b` as `a__b`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    configured: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        configured[f"GIT_CONFIG_KEY_{number}"] = name.replace("__", ".")
        configured[f"GIT_CONFIG_VALUE_{number}"] = value
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": os.devnull,
        "LC_ALL": "C",
        **configured,
    }


def run(folder: Path, *arguments: str, stdin: IO[bytes] | bytes = b"", most: int | None = None) -> bytes:
    """What `git ARGUMENTS` prints in `folder`; with `most`, one byte more than that at most, and git is ended then.

    Raises `GitUnavailable` when it fails or takes too long.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as complaints:
        if isinstance(stdin, bytes):
            source.write(stdin)
            source.seek(0)
        given = source if isinstance(stdin, bytes) else stdin
        with subprocess.Popen(
            command(*arguments), cwd=folder, env=environment(), stdin=given, stdout=subprocess.PIPE, stderr=complaints
        ) as process:
            ending = threading.Timer(TIMEOUT_SECONDS, process.kill)
            ending.start()
            try:
                said = process.stdout.read(-1 if most is None else most + 1) if process.stdout is not None else b""
                if most is not None and len(said) > most:
                    process.kill()
                    return said
                process.wait()
            finally:
                ending.cancel()
        if process.returncode != 0:
            complaints.seek(0)
            reason = complaints.read(_MOST_COMPLAINT).decode("utf-8", "replace").strip()
            raise GitUnavailable(f"git {arguments[0]} failed: {reason or f'exit code {process.returncode}'}")
        return said
