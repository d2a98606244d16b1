"""Whatever comes in: one clear sentence, nothing stored, never a stack trace."""

import json
import re
import uuid

import pytest

from documents.models import Document
from memories.models import Memory
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from tests.live import Agent, post, tool_call

LONG = "x" * 10_000_000


@pytest.fixture
def agent(site) -> Agent:
    return Agent(site, make_key(make_person(), make_space("own")).secret)


def foreign() -> dict[str, str]:
    access = make_access("foreign")
    memory = remember(access, "Theirs.")
    return {"memory": str(memory.id), "document": str(memory.document_id)}


CASES = [
    ("whoAmI", {"x": 1}, "Unknown argument: x; this tool takes none."),
    ("listSpaces", {"containerTag": "own"}, "Unknown argument: containerTag; this tool takes none."),
    ("setActiveSpace", {}, "spaceKey is required."),
    ("setActiveSpace", {"spaceKey": None}, "spaceKey is required."),
    ("setActiveSpace", {"spaceKey": 5}, "spaceKey must be text."),
    ("setActiveSpace", {"spaceKey": ""}, "must not be empty"),
    ("setActiveSpace", {"spaceKey": "nowhere"}, "not found or is not accessible"),
    ("setActiveSpace", {"spaceKey": "y" * 5000}, "too long"),
    ("search_memory", {"query": 5}, "query must be text."),
    ("search_memory", {"query": ["a"]}, "query must be text."),
    ("search_memory", {"query": LONG}, "query is too long"),
    ("search_memory", {"keyword": LONG}, "keyword is too long"),
    ("search_memory", {"category": LONG}, "category is too long"),
    ("search_memory", {"query": "a", "limit": "many"}, "limit must be a whole number."),
    ("search_memory", {"query": "a", "limit": 1.5}, "limit must be a whole number."),
    ("search_memory", {"query": "a", "limit": 10**30}, "limit must be a whole number."),
    ("search_memory", {"query": "a", "limit": True}, "limit must be a whole number."),
    ("search_memory", {"query": "a", "includeProfile": "perhaps"}, "includeProfile must be true or false."),
    ("search_memory", {"query": "a", "containerTag": "nowhere"}, "not found or is not accessible"),
    ("search_memory", {"query": "a", "containerTag": ""}, "must not be empty"),
    ("search_memory", {"query": "a", "containerTag": {"key": "own"}}, "containerTag must be text."),
    ("add_memory", {}, "content must not be empty."),
    ("add_memory", {"content": None}, "content must not be empty."),
    ("add_memory", {"content": " \u200b\n"}, "content must not be empty."),
    ("add_memory", {"content": "\x00"}, "content must not be empty."),
    ("add_memory", {"content": 5}, "content must be text."),
    ("add_memory", {"content": ["a", "b"]}, "content must be text."),
    ("add_memory", {"content": LONG}, "content is too long: 10,000,000 characters, at most 100,000 are allowed."),
    ("add_memory", {"content": "a", "action": "0"}, "action must be save or forget."),
    ("add_memory", {"content": "a", "action": "delete"}, "action must be save or forget."),
    ("add_memory", {"content": "a", "category": "c" * 101}, "category is too long"),
    ("add_memory", {"content": "a", "source": "c" * 501}, "source is too long"),
    ("add_memory", {"content": "a", "memoryId": str(uuid.uuid4())}, "memoryId can only be given with action forget"),
    ("add_memory", {"action": "forget"}, "content must not be empty."),
    ("add_memory", {"action": "forget", "memoryId": "nope"}, "memoryId must be an id such as"),
    ("add_memory", {"action": "forget", "memoryId": str(uuid.uuid4())}, "not found or is not accessible"),
    ("add_memory", {"content": "a", "containerTag": "nowhere"}, "not found or is not accessible"),
    ("add_memory", {"content": "a", "Category": "x"}, "Unknown argument: Category; allowed are"),
    ("listMemories", {"page": "x"}, "page must be a whole number."),
    ("listMemories", {"containerTag": "nowhere"}, "not found or is not accessible"),
    ("listDocuments", {"limit": []}, "limit must be a whole number."),
    ("listDocuments", {"containerTag": "nowhere"}, "not found or is not accessible"),
    ("getDocument", {}, "documentId is required."),
    ("getDocument", {"documentId": "nope"}, "documentId must be an id such as"),
    ("getDocument", {"documentId": str(uuid.uuid4())}, "not found or is not accessible"),
    ("create_document", {"title": "t", "docType": "text"}, "content is required."),
    ("create_document", {"title": " ", "docType": "text", "content": "c"}, "title must not be empty."),
    ("create_document", {"title": "t" * 301, "docType": "text", "content": "c"}, "title is too long"),
    ("create_document", {"title": "t", "docType": "x" * 51, "content": "c"}, "docType is too long"),
    ("create_document", {"title": "t", "docType": "text", "content": LONG}, "content is too long"),
    ("create_document", {"title": "t", "docType": "text", "content": ""}, "content must not be empty."),
    ("create_document", {"title": "t", "docType": "text", "content": "c", "summary": LONG}, "summary is too long"),
    ("create_document", {"title": "t", "docType": "pdf", "content": "%%%"}, "base64"),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), CASES)
def test_each_mistake_has_its_sentence_and_stores_nothing(agent, tool, arguments, expected):
    text = agent.error(tool, **arguments)
    assert expected in text
    assert len(text) < 400
    assert not re.search(r"Traceback|pydantic|psycopg|Error:|https://", text)
    assert not Memory.objects.exists()
    assert not Document.objects.exists()


@pytest.mark.parametrize("field", ["query", "keyword", "category", "containerTag"])
def test_half_a_surrogate_pair_is_refused_in_a_search(agent, field):
    body = json.dumps(tool_call("search_memory", {"query": "a", field: "a\ud800"})).encode()
    answer = post(agent.url.removesuffix("/mcp"), agent.key, body)
    assert answer.status_code in (200, 400)
    assert "surrogate" in answer.text or "parse" in answer.text.lower()


@pytest.mark.parametrize("field", ["content", "category", "source"])
def test_half_a_surrogate_pair_is_refused_in_a_save(agent, field):
    body = json.dumps(tool_call("add_memory", {"content": "a", field: "a\ud800"})).encode()
    answer = post(agent.url.removesuffix("/mcp"), agent.key, body)
    assert answer.status_code in (200, 400)
    assert not Memory.objects.exists()


def test_a_nul_character_is_left_out(agent):
    agent.call("add_memory", content="a\x00b")
    assert Memory.objects.get().text == "ab"


def test_numbers_and_booleans_sent_as_text_are_understood(agent):
    agent.call("add_memory", content="Sent as text.")
    found = agent.call("search_memory", keyword="text", limit="5", includeProfile="false")
    assert len(found["matches"]) == 1
    assert "profile" not in found


def test_an_explicit_null_means_not_given(agent):
    agent.call("add_memory", content="Null.", category=None, containerTag=None, action=None)
    assert agent.call("search_memory", keyword="Null", query=None, category=None)["matches"]


def test_someone_elses_ids_look_like_unknown_ones(agent):
    ids = foreign()
    for tool, name, identifier in (
        ("getDocument", "documentId", ids["document"]),
        ("add_memory", "memoryId", ids["memory"]),
    ):
        extra = {"action": "forget"} if tool == "add_memory" else {}
        unknown = str(uuid.uuid4())
        theirs = agent.error(tool, **{name: identifier}, **extra)
        nowhere = agent.error(tool, **{name: unknown}, **extra)
        assert theirs.replace(identifier, "") == nowhere.replace(unknown, "")
    assert Memory.objects.get().is_active


def test_an_unknown_tool_resource_or_prompt_is_a_protocol_error(agent):
    for action in (
        lambda client: client.call_tool("nope", {}),
        lambda client: client.read_resource("memory-mcp://nope"),
        lambda client: client.get_prompt("nope"),
    ):
        assert re.search(r"Unknown (tool|resource|prompt)", agent.refused(action))


def test_an_error_nobody_foresaw_is_told_by_number_only(agent, monkeypatch, caplog):
    from mcp_server import tools

    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(tools, "list_memories", broken)
    text = agent.error("listMemories")
    assert "secret detail" not in text
    number = re.search(r"error ([0-9a-f]{12})", text)
    assert number
    assert number[1] in caplog.text


def test_a_key_without_an_active_space_is_told_what_to_do(site):
    agent = Agent(site, make_key(make_person()).secret)
    assert "No active space is set for this key" in agent.error("add_memory", content="x")
    assert "No active space" in agent.refused(lambda client: client.get_prompt("context"))
    assert agent.call("listSpaces") == []
