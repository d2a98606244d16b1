"""The ASGI application under `/git/`: host, rate limit and key as on `/mcp`, then a mirror, then git.

endpoint = GitEndpoint()
async with endpoint.running():
    await endpoint(scope, receive, send)
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import OperationalError

from accounts.rate_limit import client_address
from core.asgi import Receive, Refusal, Scope, Send, is_allowed_host, read_headers
from core.errors import AccessDenied, AppError, Busy, Invalid, NotFound
from core.outages import outage
from history.git import GitUnavailable
from history.http.answers import Answer, while_connected
from history.http.bodies import BodyRefused, read_body
from history.http.places import Places
from history.http.processes import output_of, serving_environment
from history.http.receiving import receive_push, receiving_environment
from history.http.requests import GitRequest, key_in, parse_request
from history.http.threads import callers, in_thread, mirrors
from history.mirror import updated_mirror
from history.services.push import require_push
from spaces.access import AccessContext, SpaceAccess
from spaces.callers import admit

logger = logging.getLogger(__name__)

SURFACE = "git"
# What a client of git sends to fetch: ids it wants and has.
_MAXIMUM_FETCH_BYTES = 4 * 2**20
_CHALLENGE = [(b"www-authenticate", b'Basic realm="memory", charset="UTF-8"')]
_STATUS_OF_ERROR: tuple[tuple[type[AppError], int], ...] = (
    (NotFound, 404),
    (Invalid, 404),
    (AccessDenied, 403),
    (GitUnavailable, 503),
    (Busy, 503),
)


class GitEndpoint:
    """Serves the histories of spaces to git clients."""

    def __init__(self) -> None:
        self._places: Places | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests until the block ends."""
        self._places = Places()
        yield
        self._places = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = Answer(send)
        try:
            await self._serve(scope, receive, answer)
        except BodyRefused as error:
            if error.refusal is not None:
                await answer.refuse(error.refusal)
        except AppError as error:
            status = next((status for kind, status in _STATUS_OF_ERROR if isinstance(error, kind)), 400)
            await answer.refuse(Refusal(status, error.message))
        except OperationalError as error:
            logger.exception("a git request found no database")
            await answer.refuse(Refusal(503, f"{outage(error)}.", [(b"retry-after", b"5")]))

    async def _serve(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        headers = read_headers(scope)
        if not is_allowed_host(headers.get("host", "")):
            return await answer.refuse(Refusal(421, "This host name is not served here; see ALLOWED_HOSTS."))
        request = parse_request(scope, headers)
        if isinstance(request, Refusal):
            return await answer.refuse(request)
        peer = str((scope.get("client") or ("unknown", 0))[0])
        address = client_address(peer, headers.get("x-forwarded-for", ""))
        key = key_in(headers)
        wait, access = await in_thread(callers, lambda: admit(key, address, SURFACE))
        if wait is not None:
            sentence = f"Too many requests; try again in {wait} seconds."
            return await answer.refuse(Refusal(429, sentence, [(b"retry-after", str(wait).encode())]))
        if access is None:
            sentence = "Sign in with any user name and an API key as the password."
            return await answer.refuse(Refusal(401, sentence, _CHALLENGE))
        space = _space(access, request)
        if self._places is None:
            raise RuntimeError("the git endpoint is not running: the application's lifespan was not started")
        body = None if request.is_advertisement else await _body(scope, receive, headers, request)
        try:
            async with self._places.taken(access.credential.id):
                path = await in_thread(mirrors, lambda: updated_mirror(space.id))
                if request.service == "git-upload-pack" or body is None:
                    await while_connected(receive, _upload(request, path, body, answer))
                else:
                    # What was pushed is applied or refused, also when the client has gone meanwhile.
                    await receive_push(mirrors, access, space, path, body, answer)
        finally:
            if body is not None:
                body.close()
        return None


def _space(access: AccessContext, request: GitRequest) -> SpaceAccess:
    """The space asked for. Raises `NotFound` alike for one that does not exist and one that is not the caller's."""
    space = access.space(request.space_key)
    if request.service == "git-receive-pack":
        require_push(access, space)
    return space


async def _body(scope: Scope, receive: Receive, headers: dict[str, str], request: GitRequest) -> IO[bytes]:
    maximum = _MAXIMUM_FETCH_BYTES if request.service == "git-upload-pack" else settings.MAXIMUM_BODY_BYTES
    return await read_body(scope, receive, headers.get("content-encoding", "").lower(), maximum)


async def _upload(request: GitRequest, path: Path, body: IO[bytes] | None, answer: Answer) -> None:
    """What git says to a clone or a fetch, and the refs it names before a push."""
    command = request.service.removeprefix("git-")
    steps = ["--http-backend-info-refs"] if request.is_advertisement else []
    kind = "advertisement" if request.is_advertisement else "result"
    upload = command == "upload-pack"
    variables = serving_environment(request.protocol) if upload else receiving_environment()
    async with output_of([command, "--stateless-rpc", *steps, "."], path, variables, body) as pieces:
        answer.content_type = f"application/x-{request.service}-{kind}"
        if request.is_advertisement and request.protocol != "version=2":
            await answer.write(_announcement(request.service))
        async for piece in pieces:
            await answer.write(piece)
        await answer.end()


def _announcement(service: str) -> bytes:
    line = f"# service={service}\n"
    return f"{len(line) + 4:04x}{line}0000".encode()
