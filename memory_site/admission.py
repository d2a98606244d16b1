"""Before Django: bodies are bounded, and requests wait in a fair line for one of a few places.

Django gives each request a thread. A thousand at once would be a thousand threads that wait for a database connection
until the pool's patience ends; here they wait as little more than a place in a line. A place is taken when the body has
arrived, so a slow client holds none, and given back when the answer has been sent. Whoever answers for hours (a stream)
must not be served through here.
"""

import asyncio
import time
from collections import OrderedDict, deque
from typing import Any

from core.asgi import BoundedBody, Message, Receive, Refusal, Scope, Send
from core.concurrency import PROBES, REQUESTS
from memory_site.refusals import API_PREFIX, refuse
from memory_site.request_log import log_request

# Clients commonly give up after thirty to sixty seconds.
PATIENCE_SECONDS = 30
RETRY_SECONDS = 5


class Line:
    """A number of places, and those who wait for one. Each caller in turn gets the next place, however many requests
    another one has in line."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: OrderedDict[bytes, deque[asyncio.Future[None]]] = OrderedDict()

    def enter(self, caller: bytes) -> asyncio.Future[None]:
        """A future that is done when the caller has a place. Whoever does not wait for it any more calls `leave`."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._free > 0:
            self._free -= 1
            turn.set_result(None)
        else:
            self._waiting.setdefault(caller, deque()).append(turn)
        return turn

    def leave(self, turn: asyncio.Future[None]) -> None:
        """Give a place back, or give up waiting for one."""
        if turn.cancel():
            return
        while self._waiting:
            caller, turns = self._waiting.popitem(last=False)
            following = turns.popleft()
            if turns:
                self._waiting[caller] = turns
            if not following.done():
                following.set_result(None)
                return
        self._free += 1


class _Visit:
    """One request: its body, its turn, and what the application is told meanwhile."""

    def __init__(self, line: Line, scope: Scope, receive: Receive) -> None:
        self.body = BoundedBody(scope, receive)
        self.refusal: Refusal | None = None
        self.began_at = time.perf_counter()
        self._line = line
        self._caller = _caller(scope)
        self._turn: asyncio.Future[None] | None = None
        self._upcoming: asyncio.Task[Message] | None = None

    async def receive(self) -> Message:
        """As `receive` of ASGI; the end of the body is told only when there is a place."""
        if self._upcoming is not None:
            return await self._upcoming
        message = await self.body.receive()
        if self._turn is None and self.body.is_complete and not await self._is_admitted():
            return {"type": "http.disconnect"}
        return message

    async def _is_admitted(self) -> bool:
        self._turn = self._line.enter(self._caller)
        if self._turn.done():
            return True
        # The body has arrived, so that the next message is the client's leaving.
        self._upcoming = asyncio.ensure_future(self.body.receive())
        awaited: set[asyncio.Future[Any]] = {self._turn, self._upcoming}
        await asyncio.wait(awaited, timeout=PATIENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if self._turn.done():
            return True
        if not self._upcoming.done():
            sentence = f"The server is busy; try again in {RETRY_SECONDS} seconds."
            self.refusal = Refusal(503, sentence, ((b"retry-after", str(RETRY_SECONDS).encode()),))
        return False

    def end(self) -> None:
        if self._upcoming is not None:
            self._upcoming.cancel()
        if self._turn is not None:
            self._line.leave(self._turn)


async def admitted(application: Any, scope: Scope, receive: Receive, send: Send) -> None:
    """Run an HTTP application when it is its turn; a body that is too large or too slow, or a wait that is too long,
    is answered without it."""
    visit = _Visit(_probes if scope["path"] in _PROBE_PATHS else _requests, scope, receive)
    started = False

    async def noted(message: Message) -> None:
        nonlocal started
        # What the application says to a client that it was told has left is no answer to the one that waits.
        started = started or (visit.body.refusal is None and visit.refusal is None)
        if started:
            await send(message)

    try:
        if visit.body.refusal is None:
            await application(scope, visit.receive, noted)
        await visit.body.drain()
    finally:
        visit.end()
    refusal = visit.body.refusal or visit.refusal
    if refusal is not None and not started:
        await refuse(scope, send, refusal)
        if scope["path"].startswith(API_PREFIX):
            log_request(scope["method"], scope["path"], refusal.status, time.perf_counter() - visit.began_at)


def _caller(scope: Scope) -> bytes:
    """Who waits: the credential as it was presented, or the address. Made-up ones bring their sender no more than the
    connections they take would in a line of one."""
    headers = dict(scope["headers"])
    credential: bytes = headers.get(b"x-api-key") or headers.get(b"authorization") or headers.get(b"cookie") or b""
    return credential or str((scope.get("client") or ("",))[0]).encode()


# Whether the server is well must be told while it is busy.
_PROBE_PATHS = ("/health", "/readyz")
_requests = Line(REQUESTS)
_probes = Line(PROBES)
