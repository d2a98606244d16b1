"""Answering: in pieces as the client takes them, and no longer than there is a client."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable
from typing import Any

from core.asgi import Receive, Refusal, Send
from core.errors import AppError
from history.git import GitUnavailable

logger = logging.getLogger(__name__)

# A client that takes nothing for so long has gone.
_SEND_SECONDS = 60
_NEVER_CACHED = [(b"cache-control", b"no-cache, no-store, max-age=0, must-revalidate")]


class Answer:
    """The answer to one request: its head goes out with the first piece, so that until then it can be refused."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = False
        self.content_type = ""

    async def write(self, piece: bytes) -> None:
        """Send a piece. Raises `GitUnavailable` when the client does not take it."""
        await self._start(200, self.content_type, _NEVER_CACHED)
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            raise GitUnavailable("The client has stopped reading.") from None

    async def end(self) -> None:
        await self._start(200, self.content_type, _NEVER_CACHED)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a sentence; in the middle of an answer it can only be broken off."""
        if self._started:
            logger.warning("a git answer was broken off: %s", refusal.sentence)
            return
        body = f"{refusal.sentence}\n".encode()
        headers = [*refusal.headers, (b"content-length", str(len(body)).encode())]
        await self._start(refusal.status, "text/plain; charset=utf-8", headers)
        await self._send({"type": "http.response.body", "body": body})

    async def _start(self, status: int, content_type: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
        if not self._started:
            self._started = True
            lines = [(b"content-type", content_type.encode()), *headers]
            await self._send({"type": "http.response.start", "status": status, "headers": lines})


async def while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Do the work as long as there is a client for it."""
    serving = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
    finally:
        for task in (serving, leaving):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, AppError):
                await task


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
