"""What the reference system's clients rely on, over real HTTP with the official client in both protocol eras."""

import pytest

from accounts.models import Role
from documents.extraction.tests.pdfs import encoded, make_pdf
from memories.tests.factories import link, make_key, make_person, make_space, remember
from spaces.access import access_for_key
from spaces.models import Space
from tests.live import ERAS, Agent

TOOLS = {
    "whoAmI", "listSpaces", "setActiveSpace", "search_memory", "add_memory", "listMemories", "listDocuments",
    "getDocument", "create_document", "list_contested", "resolve_contested", "restore_memory",
}  # fmt: skip


@pytest.fixture(params=ERAS)
def era(request) -> str:
    return str(request.param)


@pytest.fixture
def space(transactional_db) -> Space:
    return make_space("shared")


@pytest.fixture
def writer(site, space, era) -> Agent:
    return Agent(site, make_key(make_person("Ada Writer"), space, make_space("second")).secret, era)


@pytest.fixture
def reader(site, space, era) -> Agent:
    return Agent(site, make_key(make_person("Rob Reader", role=Role.READER), space).secret, era)


def test_the_tools_are_listed_and_work(writer):
    listed = writer.run(lambda client: client.list_tools()).tools
    # Those of notes, in a toolset of their own, have tests of their own.
    assert {tool.name for tool in listed if not tool.name.startswith("memory_")} == TOOLS
    assert writer.call("whoAmI")["activeSpaceKey"] == "shared"
    saved = writer.call("add_memory", content="Invoices are paid within thirty days.", category="finance")
    assert saved["action"] == "Save"
    assert saved["affectedCount"] == 1
    assert saved["memoryIds"] == [saved["memoryId"]]
    found = writer.call("search_memory", query="How long do we have to pay bills?")
    assert found["matches"][0]["id"] == saved["memoryId"]
    assert found["matches"][0]["createdBy"] == "Ada Writer"
    assert [memory["id"] for memory in found["profile"]] == [saved["memoryId"]]
    assert (found["searchedSpace"], found["degraded"], found["pendingEmbeddings"]) == ("shared", [], 0)
    assert writer.call("listMemories")["totalCount"] == 1
    documents = writer.call("listDocuments")
    assert documents["items"][0]["docType"] == "note"
    detail = writer.call("getDocument", documentId=saved["documentId"])
    assert detail["rawContent"] == "Invoices are paid within thirty days."


def test_what_was_saved_is_found_by_keyword_and_by_category(writer):
    saved = writer.call("add_memory", content="Invoices are paid within thirty days.", category="finance")
    for criterion in ({"keyword": "THIRTY"}, {"keyword": "invioces"}, {"category": "finance"}):
        (match,) = writer.call("search_memory", **criterion, includeProfile=False)["matches"]
        assert (match["id"], match["score"]) == (saved["memoryId"], 1.0)
    assert writer.call("search_memory", category="Finance")["matches"] == []


def test_a_search_without_criteria_is_refused(writer):
    assert writer.error("search_memory") == "At least one of query, keyword and category is needed."
    assert writer.error("search_memory", query=" ", keyword="") == (
        "At least one of query, keyword and category is needed."
    )


def test_matches_carry_what_they_are_linked_to(writer):
    access = access_for_key(writer.key)
    assert access is not None
    old, new = remember(access, "The office closes at five."), remember(access, "The office closes at six.")
    link(new, old, note="The hours were extended.")
    matches = writer.call("search_memory", query="When does the office close?")["matches"]
    related = next(match for match in matches if match["id"] == str(new.id))["relatedMemories"]
    assert related == [
        {
            "id": str(old.id),
            "text": "The office closes at five.",
            "relationType": "Extends",
            "hops": 1,
            "isActive": True,
            "direction": "Outgoing",
            "note": "The hours were extended.",
        }
    ]
    graph = writer.read("memory-mcp://graph")
    assert {node["id"] for node in graph["nodes"]} == {str(old.id), str(new.id)}
    assert graph["edges"][0]["relationType"] == "Extends"


def test_forgetting_by_id_and_by_text_and_asking_back_when_unclear(writer):
    first = writer.call("add_memory", content="Anna's favourite colour is blue.")
    unclear = writer.call("add_memory", action="forget", content="Anna's favourite colour is green.")
    assert unclear["affectedCount"] == 0
    assert unclear["candidates"][0]["id"] == first["memoryId"]
    assert writer.call("add_memory", action="Forget", memoryId=first["memoryId"])["affectedCount"] == 1
    writer.call("add_memory", content="The printer is on the second floor.")
    assert (
        writer.call("add_memory", action="FORGET", content="the printer is on the second floor")["affectedCount"] == 1
    )
    assert writer.call("add_memory", action="forget", content="Never said.")["affectedCount"] == 0
    assert writer.call("search_memory", keyword="printer")["matches"] == []


def test_resources_and_prompt_are_listed_and_show_what_was_saved(writer):
    listed = writer.run(lambda client: client.list_resources()).resources
    assert {str(resource.uri) for resource in listed} == {
        f"memory-mcp://{name}" for name in ("profile", "spaces", "memories", "graph")
    }
    assert [prompt.name for prompt in writer.run(lambda client: client.list_prompts()).prompts] == ["context"]
    saved = writer.call("add_memory", content="The badge reader beeps twice.")
    spaces = {space["key"]: space for space in writer.read("memory-mcp://spaces")}
    assert spaces["shared"]["isDefault"] is True
    assert spaces["shared"]["memoryCount"] == 1
    assert writer.read("memory-mcp://profile")[0]["id"] == saved["memoryId"]
    assert writer.read("memory-mcp://memories")["items"][0]["id"] == saved["memoryId"]
    text = writer.prompt()
    assert "(shared)" in text
    assert "- The badge reader beeps twice." in text
    assert '- "second" (second) — no activity yet' in text


def test_the_active_space_is_switched_for_all_later_calls(writer):
    spaces = {space["key"]: space["isDefault"] for space in writer.call("setActiveSpace", spaceKey="second")}
    assert spaces == {"shared": False, "second": True}
    assert writer.call("whoAmI")["activeSpaceKey"] == "second"
    assert "not found or is not accessible" in writer.error("setActiveSpace", spaceKey="elsewhere")


def test_a_document_is_stored_and_found_again(writer):
    document = writer.call("create_document", title="Guide", docType="markdown", content="# Guide\n\nTurn left.")
    assert document["status"] == "Processed"
    assert writer.call("listDocuments")["items"][0]["id"] == document["id"]
    detail = writer.call("getDocument", documentId=document["id"])
    assert (detail["rawContent"], detail["createdBy"], detail["updatedBy"]) == (
        "# Guide\n\nTurn left.",
        "Ada Writer",
        "Ada Writer",
    )
    assert writer.call("listMemories")["totalCount"] == 0


def test_a_pdf_is_read(writer):
    content = encoded(make_pdf([(50, 700, "Turbines are serviced in May.")]))
    document = writer.call("create_document", title="Plan", docType="PDF", content=content)
    assert document["docType"] == "pdf"
    assert "Turbines are serviced in May." in writer.call("getDocument", documentId=document["id"])["rawContent"]
    assert "base64" in writer.error("create_document", title="Plan", docType="pdf", content="no base64!")
    assert writer.call("listDocuments")["totalCount"] == 1


def test_a_long_document_comes_in_parts(writer):
    content = "".join(f"Line {number}.\n" for number in range(10_000))
    document = writer.call("create_document", title="Long", docType="text", content=content)
    read, offset = "", 0
    while offset is not None:
        part = writer.call("getDocument", documentId=document["id"], offset=offset)
        assert len(part["rawContent"]) <= 60_000
        read += part["rawContent"]
        offset = part.get("nextOffset")
    assert read == content


def test_people_are_told_apart_and_a_reader_is_capped(writer, reader):
    ada, rob = writer.call("whoAmI"), reader.call("whoAmI")
    assert (ada["userRole"], rob["userRole"]) == ("Writer", "Reader")
    assert ada["userId"] != rob["userId"]
    assert rob["activeSpaceKey"] == "shared"
    assert reader.call("listSpaces")[0]["accessLevel"] == "Read"
    saved = writer.call("add_memory", content="The roof was repaired in April.")
    for tool, arguments in (
        ("add_memory", {"content": "x"}),
        ("add_memory", {"content": "The roof was repaired in April.", "action": "forget"}),
        ("add_memory", {"memoryId": saved["memoryId"], "action": "forget"}),
        ("create_document", {"title": "t", "docType": "text", "content": "c"}),
    ):
        assert "not write to it" in reader.error(tool, **arguments)
    (match,) = reader.call("search_memory", keyword="roof")["matches"]
    assert match["createdBy"] == "Ada Writer"


def test_lists_are_clamped_and_paged(writer):
    for number in range(12):
        writer.call("create_document", title=f"Document {number}", docType="text", content="x")
    page = writer.call("listDocuments", page=0, limit=-5)
    assert (page["page"], page["limit"], len(page["items"]), page["totalCount"]) == (1, 10, 10, 12)
    page = writer.call("listDocuments", page="2", limit="10")
    assert len(page["items"]) == 2
    assert writer.call("listDocuments", limit=500)["limit"] == 50


def test_structured_content_says_the_same_as_the_text(writer):
    result = writer.result("whoAmI", {})
    assert result.structured_content["userDisplayName"] == "Ada Writer"
    spaces = writer.result("listSpaces", {}).structured_content
    assert [space["key"] for space in spaces["spaces"]] == ["shared", "second"]


def test_a_page_of_long_summaries_keeps_within_the_budget(writer):
    for number in range(12):
        writer.call("create_document", title=f"{number}", docType="text", content="x", summary="s" * 10_000)
    page = writer.call("listDocuments", limit=12)
    assert sum(len(document["summary"]) for document in page["items"]) <= 60_000
    detail = writer.call("getDocument", documentId=page["items"][0]["id"])
    assert len(detail["summary"]) == 10_000
