"""The endpoint as HTTP: methods, paths, keys, hosts, origins, limits."""

import http.client
import ipaddress
import json
import secrets
from typing import Any

import httpx2
import pytest
from django.db import OperationalError
from psycopg_pool import PoolTimeout

from accounts.models import ApiKey
from mcp_server import endpoint, tools
from memories.tests.factories import make_key, make_person, make_space
from spaces import callers
from spaces.access import access_for_key
from tests.live import ERAS, Agent, post, tool_call


@pytest.fixture
def key(site) -> str:
    return make_key(make_person(), make_space()).secret


WHO = tool_call("whoAmI", {})


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize("era", ERAS)
def test_both_paths_are_served_without_a_redirect(site, key, path, era):
    assert Agent(site, key, era, path).call("whoAmI")["userRole"] == "Writer"
    assert post(site, key, WHO, path).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "PATCH"])
def test_other_methods_are_not_allowed(site, key, method):
    answer = httpx2.request(method, f"{site}/mcp", headers={"X-Api-Key": key, "Accept": "text/event-stream"}, timeout=5)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST, OPTIONS"


def test_without_a_valid_key_nothing_is_served(site, key):
    for headers in (
        {},
        {"X-Api-Key": "mmcp_wrong"},
        {"Authorization": "Bearer mmcp_wrong"},
        {"Authorization": f"Basic {key}"},
        {"X-Api-Key": "mmcp_wrong", "Authorization": f"Bearer {key}"},
        {"X-Api-Key": "mmcp_" + "0" * 5000},
    ):
        answer = post(site, None, WHO, **headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.content == b""


def test_a_key_is_taken_from_either_header(site, key):
    assert post(site, None, WHO, **{"X-Api-Key": key}).status_code == 200
    assert post(site, None, WHO, Authorization=f"bearer  {key}").status_code == 200
    assert post(site, None, WHO, **{"X-Api-Key": "", "Authorization": f"Bearer {key}"}).status_code == 200


def test_blanks_and_bytes_around_a_key_do_no_harm(site, key):
    # Sent as they are, which the client library would refuse to do.
    for value, status in ((f"{key}  ".encode(), 200), (b"\xff\xfe\x80", 401)):
        connection = http.client.HTTPConnection("127.0.0.1", int(site.rsplit(":", 1)[1]), timeout=20)
        headers = {"X-Api-Key": value, "Content-Type": "application/json", "Accept": "application/json"}
        connection.request("POST", "/mcp", json.dumps(WHO), headers)
        assert connection.getresponse().status == status
        connection.close()


def test_the_query_string_is_no_place_for_a_key(site, key):
    assert post(site, None, WHO, f"/mcp?X-Api-Key={key}&api_key={key}").status_code == 401


def test_revoking_counts_from_the_next_request_on(site, key):
    from accounts.services.keys import revoke_key

    assert post(site, key, WHO).status_code == 200
    revoke_key(ApiKey.objects.get())
    assert post(site, key, WHO).status_code == 401


def test_the_use_of_a_key_is_noted(site, key):
    from accounts.last_used import wait_until_written

    post(site, key, WHO)
    wait_until_written()
    assert ApiKey.objects.get().last_used_at is not None


def request(site: str, key: str, era: str, method: str, **headers: str) -> tuple[int, Any]:
    """A request whose headers are sent as they are, with nothing added: status and JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", int(site.rsplit(":", 1)[1]), timeout=20)
    headers |= {"X-Api-Key": key, "Content-Type": "application/json"}
    params: dict[str, Any] = {"name": "whoAmI", "arguments": {}} if method == "tools/call" else {}
    if era != "legacy":
        headers |= {"MCP-Protocol-Version": era, "Mcp-Method": method}
        names = ("protocolVersion", era), ("clientInfo", {"name": "t", "version": "1"}), ("clientCapabilities", {})
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in names}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    connection.request("POST", "/mcp", json.dumps(message), headers)
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("application/json")
    data = json.loads(answer.read())
    connection.close()
    return answer.status, data


@pytest.mark.parametrize("accept", [None, "application/json", "*/*", "text/event-stream", "text/html"])
@pytest.mark.parametrize("era", ERAS)
def test_whatever_a_client_accepts_it_gets_json(site, key, accept, era):
    status, data = request(site, key, era, "tools/list", **({"Accept": accept} if accept else {}))
    assert status == 200
    assert "tools" in data["result"]


def test_blanks_at_the_end_of_a_header_mean_nothing(site, key):
    status, data = request(site, key, "2026-07-28", "tools/call", **{"Mcp-Name": "whoAmI  "})
    assert status == 200, data
    assert data["result"]["structuredContent"]["userRole"] == "Writer"


def test_other_hosts_and_origins_are_refused(site, key):
    assert post(site, key, WHO, Host="evil.example").status_code == 421
    assert post(site, key, WHO, Origin="https://evil.example").status_code == 403
    assert post(site, key, WHO, Origin="null").status_code == 403
    assert post(site, key, WHO, Origin="http://localhost:6274").status_code == 200


def test_a_browser_may_ask_first(site, settings):
    settings.CSRF_TRUSTED_ORIGINS = ["https://chat.example"]
    answer = httpx2.options(f"{site}/mcp", headers={"Origin": "https://chat.example"})
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "https://chat.example"
    assert "x-api-key" in answer.headers["access-control-allow-headers"]
    refused = post(site, None, WHO, Origin="https://chat.example")
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://chat.example"


def test_a_body_over_the_limit_is_refused(site, key, settings):
    answer = post(site, key, b"x" * (settings.MAXIMUM_BODY_BYTES + 1))
    assert answer.status_code == 413
    assert answer.text == "The body is too large: at most 30 MB are allowed."


def test_a_body_of_untold_length_is_refused_over_the_limit_too(site, key, settings):
    headers = {"X-Api-Key": key, "Content-Type": "application/json"}
    chunks = (b"x" * 2**20 for _ in range(settings.MAXIMUM_BODY_BYTES // 2**20 + 1))
    answer = httpx2.post(f"{site}/mcp", content=chunks, headers=headers, timeout=60)
    assert answer.status_code == 413
    assert answer.text == "The body is too large: at most 30 MB are allowed."


@pytest.mark.parametrize("era", ["2026-07-28", None])
@pytest.mark.parametrize("sent", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_sent_as_json_is_refused(site, key, era, sent):
    headers = {"MCP-Protocol-Version": era} if era else {}
    answer = post(site, key, WHO, **headers, **{"Content-Type": sent})
    assert answer.status_code == 415
    assert "application/json" in answer.text


@pytest.mark.parametrize("identifier", [{}, [], None, 1.5, True])
def test_a_request_whose_id_is_none_is_told_so(site, key, identifier):
    answer = post(site, key, WHO | {"id": identifier})
    assert answer.status_code == 400
    assert (answer.json()["id"], answer.json()["error"]["code"]) == (None, -32600)


def test_a_notification_gets_an_empty_answer(site, key):
    answer = post(site, key, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.status_code, answer.content) == (202, b"")


def test_a_database_that_does_not_answer_is_said_to(site, key, monkeypatch):
    def unreachable(*arguments: object) -> None:
        raise OperationalError("a detail of ours")

    monkeypatch.setattr(callers, "access_for_key", unreachable)
    answer = post(site, key, WHO)
    assert (answer.status_code, answer.text) == (503, "The database does not answer.")
    assert answer.headers["retry-after"] == "5"


def test_a_pool_without_a_free_connection_is_no_missing_database(site, key, monkeypatch):
    def exhausted(*arguments: object) -> None:
        raise OperationalError("a detail of ours") from PoolTimeout("another")

    monkeypatch.setattr(callers, "access_for_key", exhausted)
    answer = post(site, key, WHO)
    assert answer.status_code == 503
    assert "busy" in answer.text
    monkeypatch.undo()
    monkeypatch.setattr(tools, "space_summaries", exhausted)
    assert "The server is busy" in Agent(site, key).error("whoAmI")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_message_is_refused_and_never_a_server_error(site, key, body):
    assert 400 <= post(site, key, body).status_code < 500


def test_the_rate_limit_comes_before_the_key_and_counts_for_each_key(site, key, settings, monkeypatch):
    settings.RATE_LIMIT_ENABLED = True
    settings.RATE_LIMIT_REQUESTS = 3
    settings.RATE_LIMIT_WINDOW_SECONDS = 30
    # An address that no other test has presented wrong keys from.
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    address = {"X-Forwarded-For": str(ipaddress.ip_address(secrets.token_bytes(16)))}
    looked_up = []

    def counted(presented: str, surface: str) -> object:
        looked_up.append(presented)
        return access_for_key(presented, surface)

    monkeypatch.setattr(callers, "access_for_key", counted)
    wrong = secrets.token_hex(8)
    assert [post(site, wrong, WHO, **address).status_code for _ in range(4)] == [401, 401, 401, 429]
    limited = post(site, wrong, WHO, **address)
    assert looked_up == [wrong] * 3
    assert 1 <= int(limited.headers["retry-after"]) <= 30
    assert limited.content == b""
    assert post(site, key, WHO, **address).status_code == 200
    assert httpx2.get(f"{site}/health").status_code == 200


def test_without_redis_requests_pass(site, key, settings):
    settings.RATE_LIMIT_ENABLED = True
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert post(site, key, WHO).status_code == 200


def test_a_call_leaves_one_line_without_its_arguments(site, key, caplog):
    with caplog.at_level("INFO", logger="mcp_server.calls"):
        Agent(site, key).call("add_memory", content="Nothing of this may be logged.")
        Agent(site, key).error("getDocument", documentId="nope")
    lines = [record.getMessage() for record in caplog.records if record.name == "mcp_server.calls"]
    assert len(lines) == 2
    assert "tool=add_memory" in lines[0]
    assert "outcome=ok" in lines[0]
    assert "outcome=invalid" in lines[1]
    assert "Nothing of this" not in caplog.text
    assert key not in caplog.text


def raw_status(site, *headers):
    connection = http.client.HTTPConnection("127.0.0.1", int(site.rsplit(":", 1)[1]), timeout=20)
    body = json.dumps(WHO).encode()
    connection.putrequest("POST", "/mcp")
    for name, value in (*headers, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))):
        connection.putheader(name, value)
    connection.endheaders(body)
    status = connection.getresponse().status
    connection.close()
    return status


def test_two_keys_are_no_key_and_an_underscore_is_no_hyphen(site, key):
    assert raw_status(site, ("X-Api-Key", key)) == 200
    assert raw_status(site, ("X-Api-Key", "mmcp_bad"), ("X-Api-Key", key)) == 401
    assert raw_status(site, ("X-Api-Key", key), ("X-Api-Key", "mmcp_bad")) == 401
    assert raw_status(site, ("X_Api_Key", key)) == 401


def test_made_up_keys_are_bounded_by_where_they_come_from(site, settings, monkeypatch):
    from accounts import rate_limit

    settings.RATE_LIMIT_ENABLED = True
    settings.RATE_LIMIT_REQUESTS = 2
    address = f"192.0.2.{secrets.token_hex(4)}"
    monkeypatch.setattr(endpoint, "client_address", lambda peer, forwarded_for: address)
    asked = []
    plain = callers.access_for_key
    monkeypatch.setattr(callers, "access_for_key", lambda *given: asked.append(given) or plain(*given))
    statuses = [post(site, f"mmcp_{secrets.token_hex(16)}", WHO).status_code for _ in range(25)]
    allowed = 2 * rate_limit._FAILING_KEYS
    assert statuses == [401] * allowed + [429] * (25 - allowed)
    assert len(asked) == allowed
