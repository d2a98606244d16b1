"""Real git for the tests, apart from whatever the machine has configured."""

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.org",
    "LC_ALL": "C",
}


def run(folder: Path, *arguments: str, fails: bool = False, stdin: bytes | None = None, both: bool = False) -> str:
    """What `git ARGUMENTS` prints in `folder`; with `fails` it has to fail. With either flag stderr comes too."""
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=folder, env=ENVIRONMENT, input=stdin, capture_output=True, timeout=120,
    )  # fmt: skip
    said = done.stdout.decode() + (done.stderr.decode() if fails or both else "")
    assert (done.returncode != 0) == fails, f"git {' '.join(arguments)}: {said}{done.stderr.decode()}"
    return said
