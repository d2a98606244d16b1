"""A client chooses which tools it is served, in its address, by a header, or as an argument of the command."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp_server.registry import Toolset
from mcp_server.tests.test_stdio import ROOT, environment
from mcp_server.tools import TOOLS
from memories.tests.factories import make_key, make_person, make_space
from tests.live import ERAS, Agent, post, tool_call

NAMES = {toolset: {name for name, tool in TOOLS.items() if tool.toolset is toolset} for toolset in Toolset}


@pytest.fixture
def key(transactional_db) -> str:
    return make_key(make_person("Ada"), make_space("own")).secret


def listed(agent: Agent) -> set[str]:
    async def names(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    return agent.run(names)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/mcp", NAMES[Toolset.MEMORY] | NAMES[Toolset.NOTES]),
        ("/mcp?toolsets=", NAMES[Toolset.MEMORY] | NAMES[Toolset.NOTES]),
        ("/mcp?toolsets=notes", NAMES[Toolset.NOTES]),
        ("/mcp?toolsets=Memory", NAMES[Toolset.MEMORY]),
        ("/mcp/?toolsets=memory,%20notes", NAMES[Toolset.MEMORY] | NAMES[Toolset.NOTES]),
    ],
)
def test_the_address_chooses(site, key, era, path, expected):
    assert listed(Agent(site, key, era, path)) == expected


def test_the_header_chooses_where_the_address_does_not(site, key):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    for path, header, toolset in (("/mcp", "notes", Toolset.NOTES), ("/mcp?toolsets=memory", "notes", Toolset.MEMORY)):
        tools = post(site, key, message, path, **{"X-MCP-Toolsets": header}).json()["result"]["tools"]
        assert {tool["name"] for tool in tools} == NAMES[toolset]


def test_tools_that_are_not_served_cannot_be_called(site, key):
    answer = post(site, key, tool_call("memory_list_projects", {}), "/mcp?toolsets=memory").json()
    assert answer["error"]["message"] == "Unknown tool: memory_list_projects."
    assert not post(site, key, tool_call("memory_list_projects", {}), "/mcp?toolsets=notes").json()["result"]["isError"]


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_name_is_one_clear_error(site, key, era):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = post(site, key, message, "/mcp?toolsets=memory,notez").json()
    assert answer["error"]["message"] == "Unknown toolset: notez; there are memory, notes."
    told = ""
    try:
        listed(Agent(site, key, era, "/mcp?toolsets=notez"))
    except Exception as error:
        told = _told(error)
    assert "Unknown toolset: notez" in told


def _told(error: BaseException) -> str:
    return " ".join([str(error), *(_told(inner) for inner in getattr(error, "exceptions", ()))])


@pytest.mark.parametrize("era", ERAS)
def test_the_command_takes_them_as_an_argument(key, era):
    async def names() -> Any:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["manage.py", "mcp_stdio", "--toolsets", "notes"],
            cwd=str(ROOT),
            env=environment(key),
        )
        async with Client(stdio_client(parameters), mode=era) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(names()) == NAMES[Toolset.NOTES]


def test_the_command_refuses_unknown_names(key):
    done = subprocess.run(
        [sys.executable, "manage.py", "mcp_stdio", "--toolsets", "x"],
        cwd=ROOT, env={**os.environ, **environment(key)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Unknown toolset: x; there are memory, notes." in done.stderr
