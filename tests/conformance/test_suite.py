"""The official conformance suite: every scenario that a protocol revision asks of a server.

The suite expects tools, resources and prompts made for it, and features that this server does not offer (sampling,
elicitation, completion, subscriptions, logging over the protocol, tasks). `expected_failures.json` names the checks
that fail for want of them, by revision, reason and scenario; each other check must pass, and each of these must fail,
so that the list stays true.
"""

import json
import re
from pathlib import Path

import pytest

from mcp_server import endpoint
from mcp_server.tools import TOOLS
from memories.tests.factories import make_key, make_person, make_space
from tests.conformance.tools import needs_tools, run_tool
from tests.live import Agent

pytestmark = needs_tools

REASONS = json.loads((Path(__file__).parent / "expected_failures.json").read_text())
EXPECTED = {
    revision: {scenario: checks for group in groups.values() for scenario, checks in group.items()}
    for revision, groups in REASONS.items()
}
# What must have been run and have passed: on a server that is down the suite still counts dozens of checks as passed.
PROOF = {
    "2025-11-25": {
        "dns-rebinding-protection", "ping", "prompts-list", "resources-list", "server-initialize", "tools-list",
    },
    "2026-07-28": {
        "caching", "dns-rebinding-protection", "http-header-validation", "input-required-result-unsupported-methods",
        "prompts-list", "resources-list", "sep-2164-resource-not-found", "server-sse-multiple-streams", "tools-list",
    },
}  # fmt: skip
ERAS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
# The suite's check of every message against the schema; it succeeds with no answer at all, on its own requests.
SCHEMA_CHECK = "wire-schema-valid"


@pytest.mark.parametrize("revision", EXPECTED)
def test_the_official_suite_passes(site, monkeypatch, tmp_path, revision):
    key = make_key(make_person(), make_space("conformance")).secret
    agent = Agent(site, key, ERAS[revision])
    assert listed_tools(agent) == set(TOOLS)
    with monkeypatch.context() as patch:
        # The suite sends no headers of ours, so the key is put in for it.
        patch.setattr(endpoint, "presented_key", lambda *headers: key)
        done = run_tool(
            "conformance/dist/index.js", "server", "--url", f"{site}/mcp", "--requirements", revision,
            "--output-dir", str(tmp_path),
        )  # fmt: skip
    assert listed_tools(agent) == set(TOOLS)
    passed, failed = read_results(tmp_path)
    assert passed >= PROOF[revision], done.stdout[-2000:]
    assert failed == EXPECTED[revision]


def listed_tools(agent: Agent) -> set[str]:
    """The names in a real tools/list: the server was up, whatever the suite says."""
    return {tool.name for tool in agent.run(lambda client: client.list_tools()).tools}


def read_results(folder: Path) -> tuple[set[str], dict[str, list[str]]]:
    """The scenarios that passed by a check of their own, and the failed checks by scenario."""
    passed, failed = set(), {}
    for file in sorted(folder.glob("*/checks.json")):
        # server-SCENARIO-2026-12-01T01-19-33-752Z
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name)
        checks = json.loads(file.read_text())
        wrong = sorted({check["id"] for check in checks if check["status"] in ("FAILURE", "WARNING")})
        if wrong:
            failed[scenario] = wrong
        elif any(check["status"] == "SUCCESS" and check["id"] != SCHEMA_CHECK for check in checks):
            passed.add(scenario)
    return passed, failed
