"""What a git client asks for: which space, which service, which step, and with which key."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from accounts.keys import presented_key
from core.asgi import Refusal, Scope

PREFIX = "/git/"
Service = Literal["git-upload-pack", "git-receive-pack"]
SERVICES: tuple[Service, ...] = ("git-upload-pack", "git-receive-pack")

_PATH = re.compile(r"/git/(?P<space>[^/]+)\.git/(?P<step>info/refs|git-upload-pack|git-receive-pack)")
_PROTOCOL = re.compile(r"version=[012]")


@dataclass(frozen=True)
class GitRequest:
    """One request. `is_advertisement`: the refs are asked for, before anything is sent."""

    space_key: str
    service: Service
    is_advertisement: bool
    protocol: str


def parse_request(scope: Scope, headers: Mapping[str, str]) -> GitRequest | Refusal:
    """The request, or why it is none."""
    found = _PATH.fullmatch(scope["path"])
    if found is None:
        return Refusal(404, "Repositories are at /git/SPACE.git, where SPACE is the key of a space.")
    step = found["step"]
    method = "GET" if step == "info/refs" else "POST"
    if scope["method"] != method:
        return Refusal(405, f"{step} is asked for by {method}.", [(b"allow", method.encode())])
    query = scope.get("query_string", b"").decode("latin-1")
    name = query.removeprefix("service=") if step == "info/refs" else step
    service = next((known for known in SERVICES if known == name), None)
    if service is None:
        return Refusal(403, "Only git's smart HTTP protocol is served here; use git 1.6.6 or newer.")
    if step != "info/refs" and headers.get("content-type") != f"application/x-{service}-request":
        return Refusal(415, f"The body must be application/x-{service}-request, as git sends it.")
    protocol = headers.get("git-protocol", "")
    return GitRequest(
        space_key=found["space"],
        service=service,
        is_advertisement=step == "info/refs",
        protocol=protocol if _PROTOCOL.fullmatch(protocol) and service == "git-upload-pack" else "",
    )


def key_in(headers: Mapping[str, str]) -> str | None:
    """The API key: the password of HTTP Basic (the name before it does not matter), else as on every other surface."""
    authorization = headers.get("authorization", "")
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() != "basic":
        return presented_key(headers.get("x-api-key"), authorization)
    try:
        user, _, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except ValueError:
        return None
    return password.strip() or user.strip() or None
