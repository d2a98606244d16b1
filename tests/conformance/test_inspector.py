"""The official inspector as a client over HTTP and stdio, in both protocol eras."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_server.tests.test_stdio import environment
from mcp_server.tools import TOOLS
from memories.tests.factories import make_key, make_person, make_space
from tests.conformance.tools import needs_tools, run_tool

pytestmark = needs_tools

ROOT = Path(__file__).resolve().parents[2]
# The exit codes the inspector documents.
TOOL_ERROR, AUTHENTICATION_NEEDED = 5, 3
PASSED_ON = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "MEMORY_API_KEY")


@pytest.fixture
def key(site) -> str:
    return make_key(make_person("Ada"), make_space("inspected")).secret


@pytest.fixture(params=["modern", "legacy"])
def era(request) -> str:
    return str(request.param)


def inspect(era: str, target: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    options = ["--cli", "--format", "json", "-q", "--protocol-era", era, "--stored-auth-only"]
    return run_tool("inspector/clients/launcher/build/index.js", *options, *arguments, *target)


def over_http(site: str, key: str) -> list[str]:
    return [f"{site}/mcp", "--transport", "http", "--header", f"X-Api-Key: {key}"]


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def call(tool: str, **arguments: Any) -> list[str]:
    return ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]


def test_tools_are_listed_and_their_schemas_suit_every_client(site, key, era):
    listed = answer(inspect(era, over_http(site, key), "--method", "tools/list", "--strict"))
    assert {tool["name"] for tool in listed["result"]["tools"]} == set(TOOLS)


def test_a_tool_is_called_over_http(site, key, era):
    result = answer(inspect(era, over_http(site, key), *call("add_memory", content="Saved by the inspector.")))
    assert result["result"]["structuredContent"]["affectedCount"] == 1


def test_a_refused_call_is_an_error_of_the_tool(site, key, era):
    done = inspect(era, over_http(site, key), *call("search_memory"))
    assert done.returncode == TOOL_ERROR
    assert "At least one of query, keyword and category is needed." in done.stdout


def test_without_a_key_authentication_is_asked_for(site, era):
    done = inspect(era, over_http(site, "mmcp_wrong"), "--method", "tools/list")
    assert done.returncode == AUTHENTICATION_NEEDED


def test_a_tool_is_called_over_stdio(key, era):
    # The inspector hands the program nothing of its own environment.
    variables = [f"-e{name}={value}" for name, value in environment(key).items() if name in PASSED_ON]
    program = [sys.executable, "manage.py", "mcp_stdio"]
    result = answer(inspect(era, program, *variables, "--cwd", str(ROOT), *call("whoAmI")))
    assert json.loads(result["result"]["content"][0]["text"])["userDisplayName"] == "Ada"
