"""The official tools, which are Node.js programs that `.ci/conformance` installs."""

import os
import subprocess
from pathlib import Path

import pytest

_PACKAGES = Path(os.environ.get("CONFORMANCE_TOOLS", "")) / "node_modules/@modelcontextprotocol"
# Generous: a run takes seconds, on a busy machine a minute.
_TIMEOUT_SECONDS = 300

needs_tools = pytest.mark.skipif(
    "CONFORMANCE_TOOLS" not in os.environ, reason="run by .ci/conformance, which installs the official tools"
)


def run_tool(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script of one of the packages, such as `conformance/dist/index.js`, to its end."""
    return subprocess.run(
        ["node", str(_PACKAGES / script), *arguments],
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
