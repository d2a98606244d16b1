"""The HTTP endpoint of the MCP server, as an ASGI application: checks, rate limit, authentication, then the SDK.

endpoint = Endpoint()
async with endpoint.running():
    await endpoint(scope, receive, send)
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.db import OperationalError
from django.http.request import split_domain_port
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from accounts.keys import presented_key
from accounts.rate_limit import client_address
from core.asgi import BoundedBody, Message, Receive, Scope, Send, is_allowed_host, read_headers
from core.outages import outage
from mcp_server import threads
from mcp_server.envelope import answering_malformed
from mcp_server.identity import set_access
from mcp_server.server import server
from mcp_server.toolsets import choose_toolsets
from spaces.callers import admit

logger = logging.getLogger(__name__)

Headers = list[tuple[bytes, bytes]]

_ALLOWED_METHODS = b"POST, OPTIONS"
_CORS_REQUEST_HEADERS = (
    b"content-type, authorization, x-api-key, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, "
    b"last-event-id, x-mcp-toolsets"
)
_CORS_EXPOSED_HEADERS = b"mcp-session-id, mcp-protocol-version, www-authenticate, retry-after"


class Endpoint:
    """Serves `/mcp`, stateless, with JSON answers, in every protocol version the SDK speaks."""

    def __init__(self) -> None:
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests until the block ends. A manager runs once, so each start makes its own."""
        self._manager = StreamableHTTPSessionManager(
            server,
            json_response=True,
            stateless=True,
            # Host and origin are checked here, by Django's rules, for all transports alike.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=settings.MAXIMUM_BODY_BYTES,
        )
        async with self._manager.run():
            yield
        self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope)
        host = headers.get("host", "")
        if not is_allowed_host(host):
            return await _answer(send, 421, text="This host name is not served here; see ALLOWED_HOSTS.")
        origin = headers.get("origin")
        if origin is not None and not _is_allowed_origin(origin, host):
            return await _answer(send, 403, text="This origin may not call; see CSRF_TRUSTED_ORIGINS.")
        cors = _cors(origin)
        if scope["method"] == "OPTIONS":
            preflight = (b"access-control-allow-methods", _ALLOWED_METHODS), (b"access-control-max-age", b"3600")
            allowed = (b"access-control-allow-headers", _CORS_REQUEST_HEADERS)
            return await _answer(send, 204, headers=[*cors, *preflight, allowed, (b"allow", _ALLOWED_METHODS)])
        if scope["method"] != "POST":
            return await _answer(send, 405, headers=[*cors, (b"allow", _ALLOWED_METHODS)])
        return await self._serve(scope, receive, _with_headers(send, cors), headers)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        key = presented_key(headers.get("x-api-key"), headers.get("authorization"))
        peer = str((scope.get("client") or ("unknown", 0))[0])
        address = client_address(peer, headers.get("x-forwarded-for", ""))
        try:
            wait, access = await threads.authenticate(admit, key, address, "mcp")
        except OperationalError as error:
            logger.exception("a caller could not be identified")
            return await _answer(send, 503, headers=[(b"retry-after", b"5")], text=f"{outage(error)}.")
        if wait is not None:
            return await _answer(send, 429, headers=[(b"retry-after", str(wait).encode())])
        if access is None:
            return await _answer(send, 401, headers=[(b"www-authenticate", b'Bearer realm="memory"')])
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return await _answer(send, 415, text="The body must be sent as Content-Type: application/json.")
        body = BoundedBody(scope, receive)
        content = await body.read()
        await body.drain()
        if body.refusal is not None:
            refusal = body.refusal
            return await _answer(send, refusal.status, headers=[*refusal.headers], text=refusal.sentence)
        if content is None:
            # The client has left.
            return None
        if self._manager is None:
            raise RuntimeError("the MCP endpoint is not running: the application's lifespan was not started")
        set_access(access)
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True).get("toolsets")
        choose_toolsets(",".join(asked) if asked else headers.get("x-mcp-toolsets"))
        answering = answering_malformed(content, send)
        return await self._manager.handle_request(_accepting_json(scope), _replaying(content, receive), answering)


def _accepting_json(scope: Scope) -> Scope:
    """Answers are JSON whatever a client says it accepts; the SDK would refuse those that leave it out."""
    others = [(name, value) for name, value in scope["headers"] if name.lower() != b"accept"]
    return {**scope, "headers": [*others, (b"accept", b"application/json, text/event-stream")]}


def _replaying(content: bytes, receive: Receive) -> Receive:
    """A body that was read already, then whatever else the client does."""
    waiting = [{"type": "http.request", "body": content, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def _is_allowed_origin(origin: str, host: str) -> bool:
    """Browsers send an origin: the server's own, one of a local program, or one that settings name."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if not parts.netloc:
        return False
    domain, _ = split_domain_port(parts.netloc.lower())
    return parts.netloc.lower() == host.lower() or (bool(domain) and is_allowed_host(parts.netloc.lower()))


def _cors(origin: str | None) -> Headers:
    if origin is None:
        return []
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", _CORS_EXPOSED_HEADERS),
        (b"vary", b"Origin"),
    ]


def _with_headers(send: Send, extra: Headers) -> Send:
    if not extra:
        return send

    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return wrapped


async def _answer(send: Send, status: int, *, headers: Headers | None = None, text: str = "") -> None:
    body = text.encode()
    lines = [*(headers or []), (b"content-length", str(len(body)).encode())]
    if body:
        lines.append((b"content-type", b"text/plain; charset=utf-8"))
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})
