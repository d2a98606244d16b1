"""Every way into the server, from the registries that serve it, as attempts on somebody else's space.

A surface gives pairs of what was sent and what came back. What outsiders send to a tool or a route stands in the tables
of `tests/test_leaks.py`, which fail when one is missing.
"""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from mcp_server.resources import RESOURCES
from mcp_server.tools import TOOLS
from tests.live import post, tool_call
from tests.test_leaks import ROUTES, TOOL_ARGUMENTS, Owned


@dataclass(frozen=True)
class Answer:
    """What came back. `sent` is what the outsider put in, and may be repeated to them."""

    sent: Any
    status: int
    text: str
    is_refusal: bool


Attempts = Callable[[str, str, Owned], Iterator[Answer]]


def _tool(name: str) -> Attempts:
    def attempts(site: str, key: str, secret: Owned) -> Iterator[Answer]:
        for arguments in TOOL_ARGUMENTS[name](secret):
            yield _mcp(site, key, tool_call(name, arguments), arguments)

    return attempts


def _resource(uri: str) -> Attempts:
    def attempts(site: str, key: str, secret: Owned) -> Iterator[Answer]:
        yield _mcp(site, key, {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}, {})

    return attempts


def _prompt(site: str, key: str, secret: Owned) -> Iterator[Answer]:
    yield _mcp(site, key, {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "context"}}, {})


def _mcp(site: str, key: str, message: Any, sent: Any) -> Answer:
    answer = post(site, key, message)
    result = answer.json() if answer.status_code == 200 else {}
    refused = answer.status_code != 200 or "error" in result or bool(result["result"].get("isError"))
    return Answer(sent, answer.status_code, answer.text, refused)


def _route(method: str, path: str) -> Attempts:
    def attempts(site: str, key: str, secret: Owned) -> Iterator[Answer]:
        for verb, address, body in ROUTES[method, path](secret):
            answer = httpx2.request(
                verb,
                f"{site}/api/v1{address}",
                content=json.dumps(body) if body is not None else None,
                headers={"X-Api-Key": key, "Content-Type": "application/json"},
                timeout=60,
            )
            # A problem names the address as well.
            yield Answer([address, address, body], answer.status_code, answer.text, answer.status_code >= 400)

    return attempts


def _git(site: str, key: str, secret: Owned) -> Iterator[Answer]:
    token = base64.b64encode(f"x:{key}".encode()).decode()
    for service in ("git-upload-pack", "git-receive-pack"):
        address = f"/git/{secret.space.key}.git/info/refs?service={service}"
        answer = httpx2.get(site + address, headers={"Authorization": f"Basic {token}"}, timeout=60)
        yield Answer([address], answer.status_code, answer.text, answer.status_code >= 400)


SURFACES: dict[str, Attempts] = {
    **{f"tool {name}": _tool(name) for name in TOOLS},
    **{f"resource {uri}": _resource(uri) for uri in RESOURCES},
    "prompt context": _prompt,
    **{f"{method} {path}": _route(method, path) for method, path in ROUTES},
    "git clone, fetch, push": _git,
}
