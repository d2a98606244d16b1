"""What one caller was given opens nothing in another one's hands, and what is kept aside holds no texts."""

import logging

import httpx2
import pytest

from accounts.models import ApiKey
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from tests.live import post, tool_call
from tests.test_leaks import MARK, owned

pytestmark = pytest.mark.leaks
# Drivers of the tests, and the access log, which the server is started without (`memory_site.embedded.programs`).
DRIVERS = ("django", "httpx2", "httpcore2", "httpcore", "asyncio", "mcp", "uvicorn")


def get(site, key, path):
    return httpx2.get(f"{site}/api/v1{path}", headers={"X-Api-Key": key}, timeout=60)


@pytest.mark.parametrize("path", ["/memories", "/documents"])
def test_a_cursor_of_another_tenant_leads_only_through_ones_own(site, path):
    theirs, ours = make_space(), make_space()
    for space in (theirs, ours):
        access = make_access(space)
        for number in range(4):
            remember(access, f"{space.key} memory {number}")
    key, own_key = make_key(make_person(), theirs).secret, make_key(make_person(), ours).secret
    cursor = get(site, key, f"{path}?limit=2").json()["nextCursor"]
    answer = get(site, own_key, f"{path}?limit=50&cursor={cursor}")
    assert answer.status_code == 200
    assert theirs.key not in answer.text


def test_log_lines_name_no_texts_and_no_keys(site, caplog):
    secret = owned()
    key = make_key(make_person(), secret.space).secret
    with caplog.at_level(logging.DEBUG, logger=""):
        for tool, arguments in (
            ("search_memory", {"query": "Where is the xylophone?"}),
            ("add_memory", {"content": "The xylophone was sold."}),
            ("add_memory", {"content": "The xylophone was sold.", "action": "forget"}),
            ("getDocument", {"documentId": "no-such-id"}),
        ):
            post(site, key, tool_call(tool, arguments))
        get(site, key, "/search?keyword=xylophone&containerTag=xylophone-space")
        get(site, key, "/memories/00000000-0000-0000-0000-000000000000")
    # What drivers say at their most talkative is not written by the settings.
    lines = [record.getMessage() for record in caplog.records if record.name.split(".")[0] not in DRIVERS]
    assert any("search_memory" in line for line in lines)
    for part in ("Where is", "was sold", "keyword=", secret.memory.text, key):
        assert [line for line in lines if part in line] == []


def test_the_same_question_of_two_tenants_is_embedded_once_and_answered_apart(site):
    secret = owned()
    key = make_key(make_person(), secret.space).secret
    other = make_key(make_person(), make_space()).secret
    question = {"query": "Where is the instrument that nobody plays?"}
    assert MARK in post(site, key, tool_call("search_memory", question)).text
    answer = post(site, other, tool_call("search_memory", question))
    assert answer.json()["result"]["structuredContent"]["matches"] == []
    assert MARK not in answer.text


def test_keys_are_kept_as_digests_only(site):
    new = make_key(make_person(), make_space())
    row = ApiKey.objects.filter(id=new.key.id).values().get()
    assert new.secret not in str(row)
    assert new.secret[len("mmcp_") + 8 :] not in str(row)
