"""Requests whose id is none: the SDK takes them for notifications and answers them with nothing."""

import json

from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError

from core.asgi import Message, Send

_ACCEPTED = 202
_REFUSED = (
    JSONRPCError(
        jsonrpc="2.0",
        id=None,
        error=ErrorData(code=INVALID_REQUEST, message="id must be a text or a whole number; leave it out to notify."),
    )
    .model_dump_json(by_alias=True, exclude_unset=True)
    .encode()
)


def answering_malformed(content: bytes, send: Send) -> Send:
    """`send`, where the empty answer to a request with a malformed id becomes an Invalid Request error.

    Only an empty answer makes it look at the content again, so that no other call pays for it.
    """
    is_replaced = False

    async def answering(message: Message) -> None:
        nonlocal is_replaced
        if message["type"] == "http.response.start" and message["status"] == _ACCEPTED:
            is_replaced = _has_id_and_method(content)
            if is_replaced:
                length = str(len(_REFUSED)).encode()
                headers = [(b"content-type", b"application/json"), (b"content-length", length)]
                await send({"type": "http.response.start", "status": 400, "headers": headers})
                await send({"type": "http.response.body", "body": _REFUSED})
        if not is_replaced:
            await send(message)

    return answering


def _has_id_and_method(content: bytes) -> bool:
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "id" in message and "method" in message
