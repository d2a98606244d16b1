"""One git process: its input from a file, its output in pieces as the client takes them, and no longer than allowed."""

import asyncio
import contextlib
import logging
import os
import resource
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from history import git

logger = logging.getLogger(__name__)

MAXIMUM_SECONDS = 600
_PIECE = 64 * 1024
_MOST_COMPLAINT = 2000
# Deltas that the mirror has are sent on, new ones are not looked for: a clone costs reading, and little memory.
_SERVING = {
    "pack__window": "0",
    "pack__threads": "1",
    "pack__windowMemory": "64m",
    "uploadpack__allowFilter": "true",
    # Partial clones ask for single objects; whoever may read the space may read all of the mirror.
    "uploadpack__allowAnySHA1InWant": "true",
    "core__hooksPath": "/dev/null",
    "safe__directory": "*",
}


def serving_environment(protocol: str = "", **settings: str) -> dict[str, str]:
    """Variables of a process that serves; `protocol` is the version the client asked for."""
    variables = git.environment(**_SERVING, **settings)
    return {**variables, "GIT_PROTOCOL": protocol} if protocol else variables


@asynccontextmanager
async def output_of(
    arguments: Sequence[str],
    folder: Path,
    variables: dict[str, str],
    stdin: IO[bytes] | None,
    limits: Mapping[int, int] | None = None,
) -> AsyncIterator[AsyncIterator[bytes]]:
    """The output of `git ARGUMENTS`, piece by piece. The process ends with the block, whether or not it has finished.
    `limits` are those of the operating system (`resource.RLIMIT_…`) for it and its children, where it has them.

    Raises `GitUnavailable` when git is missing, fails without a word to the client, or takes too long.
    """
    if stdin is not None:
        # What was read of it already is in a buffer here, and the process reads the file itself.
        os.lseek(stdin.fileno(), stdin.tell(), os.SEEK_SET)
    with tempfile.TemporaryFile() as complaints:
        process = await asyncio.create_subprocess_exec(
            *git.command(*arguments),
            cwd=folder,
            env=variables,
            stdin=stdin if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=complaints,
            limit=_PIECE,
        )
        if limits and hasattr(resource, "prlimit"):
            for kind, most in limits.items():
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(process.pid, kind, (most, most))
        try:
            yield _pieces(process, arguments[0], complaints)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            await process.wait()


async def _pieces(process: asyncio.subprocess.Process, name: str, complaints: IO[bytes]) -> AsyncIterator[bytes]:
    ends_at = asyncio.get_running_loop().time() + MAXIMUM_SECONDS
    spoke = False
    if process.stdout is None:
        raise RuntimeError("the process was started without a pipe")
    try:
        while True:
            async with asyncio.timeout_at(ends_at):
                piece = await process.stdout.read(_PIECE)
            if not piece:
                break
            spoke = True
            yield piece
        async with asyncio.timeout_at(ends_at):
            code = await process.wait()
    except TimeoutError:
        raise git.GitUnavailable(f"git did not finish within {MAXIMUM_SECONDS} seconds.") from None
    if code != 0:
        complaints.seek(0)
        said = complaints.read(_MOST_COMPLAINT).decode("utf-8", "replace").strip()
        logger.warning("git %s ended with %d: %s", name, code, said)
        if not spoke:
            raise git.GitUnavailable("git could not serve this request; the server's log says why.")
