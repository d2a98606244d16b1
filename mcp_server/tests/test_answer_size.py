"""Answers stay below what clients cut off: long texts come as excerpts, and the document has all of the text."""

import json
from typing import Any

import pytest

from mcp_server.resources import RESOURCES
from mcp_server.tools import TOOLS
from memories.models import Memory
from memories.tests.factories import make_access, remember
from spaces.access import AccessContext

pytestmark = pytest.mark.django_db

# Of about 25,000 tokens that Claude's clients take, at about four characters each; the texts' own budget is 60,000.
LARGEST = 100_000
LONG = "A sentence of the story. " * 3_000


@pytest.fixture
def access() -> AccessContext:
    access = make_access("stories")
    # Embedding is beside the point here, and slow for texts as long as this.
    first = remember(access, "The story.", category="story")
    Memory.objects.update(text=LONG)
    for number in range(49):
        Memory.objects.create(
            space_id=first.space_id, text=LONG, category="story", document=first.document, content_hash=bytes([number])
        )
    return access


def call(access: AccessContext, tool: str, **arguments: Any) -> Any:
    answer = TOOLS[tool].function(access, **arguments)
    return answer.dump()


def assert_fits(data: Any, texts: list[dict[str, Any]]) -> None:
    assert len(json.dumps(data, ensure_ascii=False)) < LARGEST
    assert texts
    for item in texts:
        assert item["textTruncated"] is True
        assert item["text"].endswith("…")
        assert LONG.startswith(item["text"][:-1])


def test_a_list_of_fifty_long_memories(access):
    page = call(access, "listMemories", page=1, limit=50, containerTag=None)
    assert_fits(page, page["items"])
    assert len(page["items"]) == 50


def test_fifty_long_matches_and_the_profile(access):
    found = call(
        access, "search_memory", query=None, keyword=None, category="story", includeProfile=True, containerTag=None,
        limit=50,
    )  # fmt: skip
    assert_fits(found, found["matches"] + found["profile"])
    assert (len(found["matches"]), len(found["profile"])) == (50, 5)


@pytest.mark.parametrize("name", ["profile", "memories", "graph"])
def test_resources(access, name):
    data = json.loads(RESOURCES[f"memory-mcp://{name}"].text(access))
    assert_fits(data, data if name == "profile" else data["items" if name == "memories" else "nodes"])


def test_a_document_comes_in_parts_that_make_the_whole(access):
    fields = {"title": "t", "docType": "text", "content": LONG}
    document = call(access, "create_document", **fields, summary=None, containerTag=None, idempotencyKey=None)
    read, offset = "", 0
    while offset is not None:
        part = call(access, "getDocument", documentId=document["id"], offset=offset)
        assert len(json.dumps(part)) < LARGEST
        read += part["rawContent"]
        offset = part.get("nextOffset")
    assert read == LONG
