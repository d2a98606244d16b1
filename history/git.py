"""Running the program git, which serves clones and checks what is pushed; everything else works without it."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from core.errors import AppError

# What belongs to a request is far quicker; this is for a mirror of millions of objects.
TIMEOUT_SECONDS = 600


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


def run(
    folder: Path,
    *arguments: str,
    stdin: IO[bytes] | bytes | None = None,
    variables: Mapping[str, str] | None = None,
) -> bytes:
    """What `git ARGUMENTS` prints in `folder`. Raises `GitUnavailable` when it fails, with the reason in the log."""
    given = stdin if isinstance(stdin, bytes) else None
    source = None if isinstance(stdin, bytes) else subprocess.DEVNULL if stdin is None else stdin
    try:
        done = subprocess.run(
            command(*arguments),
            cwd=folder,
            env=variables or environment(),
            input=given,
            stdin=source,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitUnavailable(f"git did not finish within {TIMEOUT_SECONDS} seconds.") from None
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip()[-500:]
        raise GitUnavailable(f"git {arguments[0]} failed: {reason or f'exit code {done.returncode}'}")
    return done.stdout
