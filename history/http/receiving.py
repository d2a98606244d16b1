"""A push from its pack to the answer: received in quarantine by git, checked, applied as changes, or refused whole."""

import logging
import resource
import uuid
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from django.db import Error as DatabaseFailure

from core.asgi import Refusal
from core.errors import AppError, Invalid
from history.http.answers import Answer
from history.http.processes import output_of, serving_environment
from history.http.pushes import Commands, read_commands, refusal_report, told
from history.http.threads import in_thread
from history.quarantine import Quarantine, quarantine
from history.services.push import push
from spaces.access import AccessContext, SpaceAccess

logger = logging.getLogger(__name__)

# What git may take while it unpacks: a pack of some megabytes can describe objects of many gigabytes.
_MEMORY_BYTES = 1536 * 2**20
_CPU_SECONDS = 120
_MOST_REPORT_BYTES = 2**20
_RECEIVING = {
    "receive__fsckObjects": "true",
    "receive__denyNonFastForwards": "true",
    "receive__denyDeletes": "true",
    "receive__unpackLimit": "1",
    "receive__autogc": "false",
    "receive__advertisePushOptions": "false",
    # Larger contents are copied in pieces, and the mirror's packs are looked at through small windows.
    "core__bigFileThreshold": "8m",
    "core__packedGitWindowSize": "32m",
    "core__packedGitLimit": "256m",
    "core__deltaBaseCacheLimit": "64m",
}


def receiving_environment() -> dict[str, str]:
    """Variables of the process that unpacks a push."""
    return serving_environment(**_RECEIVING)


async def receive_push(
    pool: ThreadPoolExecutor, access: AccessContext, space: SpaceAccess, mirror: Path, body: IO[bytes], answer: Answer
) -> None:
    """Answer one push. Whatever is wrong with it is said in git's own report, so that the client prints it."""
    try:
        commands = read_commands(body)
    except Invalid as error:
        await answer.refuse(Refusal(400, error.message))
        return
    try:
        commands.require_main()
        said = await _receive(pool, access, space, mirror, body, commands)
    except AppError as error:
        said = refusal_report(commands, error.message)
    except DatabaseFailure:
        logger.exception("a push found no database")
        said = refusal_report(commands, "The database does not answer; push again later.")
    except Exception:
        identifier = uuid.uuid4().hex[:12]
        logger.exception("a push failed, error %s", identifier)
        said = refusal_report(commands, f"Something went wrong on the server (error {identifier}); tell its people.")
    answer.content_type = "application/x-git-receive-pack-result"
    await answer.write(said)
    await answer.end()


async def _receive(
    pool: ThreadPoolExecutor,
    access: AccessContext,
    space: SpaceAccess,
    mirror: Path,
    body: IO[bytes],
    commands: Commands,
) -> bytes:
    with ExitStack() as stack:
        held = await in_thread(pool, lambda: stack.enter_context(quarantine(mirror)))
        arguments = ["receive-pack", "--stateless-rpc", "."]
        async with output_of(arguments, held.path, receiving_environment(), body, limits=_LIMITS) as pieces:
            report = await _joined(pieces)
        if not commands.commands:
            return report
        return await in_thread(pool, lambda: _apply(access, space, held, commands, report))


def _apply(access: AccessContext, space: SpaceAccess, held: Quarantine, commands: Commands, report: bytes) -> bytes:
    """The answer: git's own where git refused already or all went well."""
    received = held.received
    if received is None or received == held.base:
        return report
    pushed = held.read(received)
    oid = push(access, space, base=held.base, changes=pushed.changes, message=pushed.message)
    if oid == held.base or oid is None:
        return told(commands, "Nothing differs from what is there, so nothing was saved.") + report
    return told(commands, f"Saved as {oid[:10]}. Bring your copy up to it with: git pull --rebase") + report


async def _joined(pieces: AsyncIterator[bytes]) -> bytes:
    report = bytearray()
    async for piece in pieces:
        if len(report) < _MOST_REPORT_BYTES:
            report += piece
    return bytes(report)


_LIMITS = {resource.RLIMIT_AS: _MEMORY_BYTES, resource.RLIMIT_CPU: _CPU_SECONDS}
