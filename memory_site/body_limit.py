"""A bound on request bodies before Django sees them: it would write a body of any size to disk, even without a key."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from memory_site.problems import too_large_problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# So much of a refused body is still read and thrown away: most clients listen only once they have sent everything.
_DRAINED = 4


async def bounded(application: Any, scope: Message, receive: Receive, send: Send) -> None:
    """Run an HTTP application; a body larger than MAXIMUM_BODY_BYTES, announced or not, ends in 413."""
    received = 0
    exceeded = started = False
    more = True

    async def counted() -> Message:
        nonlocal received, exceeded, more
        message = await receive()
        more = message.get("more_body", False)
        received += len(message.get("body", b""))
        if received > settings.MAXIMUM_BODY_BYTES:
            exceeded = True
            # To the application the client is gone: it stops reading and answers nothing.
            return {"type": "http.disconnect"}
        return message

    async def noted(message: Message) -> None:
        nonlocal started
        started = started or (message["type"] == "http.response.start" and not exceeded)
        if started:
            await send(message)

    if _announced(scope) > settings.MAXIMUM_BODY_BYTES:
        exceeded = True
    else:
        await application(scope, counted, noted)
    if exceeded and not started:
        if more:
            await _drain(receive, received)
        await _refuse(scope, send)


def _announced(scope: Message) -> int:
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(length) if length.isdigit() else 0


async def _drain(receive: Receive, received: int) -> None:
    while received <= settings.MAXIMUM_BODY_BYTES * _DRAINED:
        message = await receive()
        received += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


async def _refuse(scope: Message, send: Send) -> None:
    request = HttpRequest()
    request.path = scope["path"]
    response = too_large_problem(request)
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    headers.append((b"content-length", str(len(response.content)).encode()))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
