"""The official conformance suite: every scenario that a protocol revision asks of a server.

The suite expects tools, resources and prompts made for it, and features that this server does not offer (sampling,
elicitation, completion, subscriptions, logging over the protocol, tasks). `expected_failures.json` names the checks
that fail for want of them, by revision and scenario; each other check must pass, and each of these must fail, so that
the list stays true.
"""

import json
import re
from pathlib import Path

import httpx2
import pytest

from mcp_server import endpoint
from memories.tests.factories import make_key, make_person, make_space
from tests.conformance.tools import needs_tools, run_tool
from tests.live import post, tool_call

pytestmark = needs_tools

EXPECTED = json.loads((Path(__file__).parent / "expected_failures.json").read_text())
# What must have been run and have passed: on a server that is down the suite still counts dozens of checks as passed.
PROOF = {
    "2025-11-25": {"server-initialize", "ping", "tools-list", "resources-list", "prompts-list"},
    "2026-07-28": {"http-header-validation", "tools-list", "resources-list", "prompts-list", "caching"},
}


@pytest.mark.parametrize("revision", EXPECTED)
def test_the_official_suite_passes(site, monkeypatch, tmp_path, revision):
    key = make_key(make_person(), make_space("conformance")).secret
    # The suite sends no headers of ours, so the key is put in for it.
    monkeypatch.setattr(endpoint, "presented_key", lambda *headers: key)
    assert httpx2.get(f"{site}/livez").status_code == 200
    assert post(site, None, tool_call("whoAmI", {})).status_code == 200
    done = run_tool(
        "conformance/dist/index.js", "server", "--url", f"{site}/mcp", "--requirements", revision,
        "--output-dir", str(tmp_path),
    )  # fmt: skip
    passed, failed = read_results(tmp_path)
    assert passed >= PROOF[revision], done.stdout[-2000:]
    assert failed == EXPECTED[revision]


def read_results(folder: Path) -> tuple[set[str], dict[str, list[str]]]:
    """The scenarios in which a message of ours was seen and was valid, and the failed checks by scenario."""
    passed, failed = set(), {}
    for file in sorted(folder.glob("*/checks.json")):
        # server-SCENARIO-2026-12-01T01-19-33-752Z
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name)
        checks = json.loads(file.read_text())
        if any(check["id"] == "wire-schema-valid" and check["status"] == "SUCCESS" for check in checks):
            passed.add(scenario)
        wrong = sorted({check["id"] for check in checks if check["status"] in ("FAILURE", "WARNING")})
        if wrong:
            failed[scenario] = wrong
    return passed, failed
