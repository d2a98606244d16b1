"""The real site over real HTTP, in a thread of the test process, so that it uses the test database."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import uvicorn
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

ERAS = ("2026-07-28", "legacy")


@contextmanager
def running_site() -> Iterator[str]:
    """Serve until the block ends; gives the address, `http://127.0.0.1:PORT`."""
    from memory_site.asgi import application

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = uvicorn.Config(application, http="httptools", ws="none", lifespan="on", log_config=None)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the site did not start")
            threading.Event().wait(0.02)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(20)


class Agent:
    """One MCP client with a key: each call connects anew, in the protocol era it was made for."""

    def __init__(self, site: str, key: str, era: str = ERAS[0], path: str = "/mcp") -> None:
        self.url = site + path
        self.key = key
        self.era = era

    def run(self, action: Any) -> Any:
        """`await action(client)` with a connected client."""

        async def connected() -> Any:
            async with httpx2.AsyncClient(headers={"X-Api-Key": self.key}, timeout=60) as http:
                transport = streamable_http_client(self.url, http_client=http)
                async with Client(transport, mode=self.era) as client:
                    return await action(client)

        return asyncio.run(connected())

    def call(self, tool: str, **arguments: Any) -> Any:
        """The data of a successful call, parsed from its one text block."""
        result = self.result(tool, arguments)
        assert not result.is_error, result.content[0].text
        assert len(result.content) == 1
        return json.loads(result.content[0].text)

    def error(self, tool: str, **arguments: Any) -> str:
        """The sentence of a call that is refused."""
        result = self.result(tool, arguments)
        assert result.is_error, result.content[0].text
        assert result.structured_content is None
        text: str = result.content[0].text
        return text

    def result(self, tool: str, arguments: dict[str, Any]) -> Any:
        return self.run(lambda client: client.call_tool(tool, arguments))

    def refused(self, action: Any) -> str:
        """The message of the protocol error that `await action(client)` ends in."""
        from mcp.shared.exceptions import MCPError

        async def caught(client: Client) -> str:
            try:
                await action(client)
            except MCPError as error:
                return str(error)
            raise AssertionError("it was served")

        text: str = self.run(caught)
        return text

    def read(self, uri: str) -> Any:
        """A resource's data."""
        result = self.run(lambda client: client.read_resource(uri))
        assert len(result.contents) == 1
        return json.loads(result.contents[0].text)

    def prompt(self) -> str:
        result = self.run(lambda client: client.get_prompt("context"))
        assert len(result.messages) == 1
        text: str = result.messages[0].content.text
        return text


def post(site: str, key: str | None, message: Any, path: str = "/mcp", **headers: str) -> httpx2.Response:
    """A raw POST to the MCP endpoint."""
    sent = {"Accept": "application/json, text/event-stream", **headers}
    if key is not None:
        sent["X-Api-Key"] = key
    content = message if isinstance(message, bytes) else json.dumps(message).encode()
    sent.setdefault("Content-Type", "application/json")
    return httpx2.post(site + path, content=content, headers=sent, timeout=60)


def tool_call(tool: str, arguments: Any) -> dict[str, Any]:
    """A tools/call message of the handshake era, which needs no headers of its own."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
