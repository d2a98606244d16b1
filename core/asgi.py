"""What stands before any application: the shapes of ASGI, and a request's body, bounded in size and time.

body = BoundedBody(scope, receive)
await application(scope, body.receive, send)         # reads as from `receive`
if body.refusal: ...                                 # too large, or too slow; the application saw the client leave
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

_GONE = {"type": "http.disconnect"}
_CLOSE = ((b"connection", b"close"),)
# So much of a refused body is still read and thrown away: most clients listen only once they have sent everything.
_DRAINED = 4


@dataclass(frozen=True)
class Refusal:
    """An answer given before an application is asked: a status, one sentence, and headers."""

    status: int
    sentence: str
    headers: Headers = ()


def read_headers(scope: Scope) -> dict[str, str]:
    """Headers by name. A repeated one is joined by commas, as Django does: two keys are no key."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.lower().decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


def is_allowed_host(host: str) -> bool:
    """Whether ALLOWED_HOSTS names the host that a request was sent to."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


class BoundedBody:
    """The body of one request: at most MAXIMUM_BODY_BYTES, all there MAXIMUM_BODY_SECONDS after it was first asked for.

    Once it is refused, or the client has left, `receive` says that the client is gone.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._received = 0
        self._ends_at: float | None = None
        self.is_complete = False
        self.refusal = _too_large() if _announced(scope) > settings.MAXIMUM_BODY_BYTES else None

    async def receive(self) -> Message:
        """The next message, as an application expects it."""
        if self.refusal is not None:
            return dict(_GONE)
        if self.is_complete:
            return await self._receive()
        try:
            message = await self._next()
        except TimeoutError:
            seconds = settings.MAXIMUM_BODY_SECONDS
            self.refusal = Refusal(408, f"The body did not arrive within {seconds} seconds; send it again.", _CLOSE)
            return dict(_GONE)
        if self._received > settings.MAXIMUM_BODY_BYTES:
            self.refusal = _too_large()
            return dict(_GONE)
        return message

    async def read(self) -> bytes | None:
        """All of it; None when it is refused or the client leaves before its end."""
        parts = bytearray()
        while not self.is_complete:
            message = await self.receive()
            if message["type"] != "http.request":
                return None
            parts += message.get("body", b"")
        return bytes(parts)

    async def drain(self) -> None:
        """Read on through a body that is too large, within bounds, so that its client comes to hear the answer."""
        if self.refusal is None or self.refusal.status != 413:
            return
        try:
            while not self.is_complete and self._received <= settings.MAXIMUM_BODY_BYTES * _DRAINED:
                if (await self._next())["type"] != "http.request":
                    return
        except TimeoutError:
            pass
        if not self.is_complete:
            self.refusal = _too_large(_CLOSE)

    async def _next(self) -> Message:
        loop = asyncio.get_running_loop()
        if self._ends_at is None:
            self._ends_at = loop.time() + settings.MAXIMUM_BODY_SECONDS
        async with asyncio.timeout_at(self._ends_at):
            message = await self._receive()
        self._received += len(message.get("body", b""))
        self.is_complete = message["type"] == "http.request" and not message.get("more_body", False)
        return message


def _announced(scope: Scope) -> int:
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(length) if length.isdigit() else 0


def _too_large(headers: Headers = ()) -> Refusal:
    megabytes = settings.MAXIMUM_BODY_BYTES // (1024 * 1024)
    return Refusal(413, f"The body is too large: at most {megabytes} MB are allowed.", headers)
