"""The REST API over the same services."""

import pytest
from django.test import Client

from accounts.models import Role
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from spaces.access import access_for_key
from tests.query_counts import captured_queries

pytestmark = pytest.mark.django_db


class Program:
    """A client with a key."""

    def __init__(self, key: str) -> None:
        self.client = Client(headers={"X-Api-Key": key})
        self.key = key

    def get(self, path: str, **parameters):
        return self.client.get(f"/api/v1{path}", parameters)

    def post(self, path: str, data):
        return self.client.post(f"/api/v1{path}", data, content_type="application/json")


@pytest.fixture
def program() -> Program:
    return Program(make_key(make_person("Ada"), make_space("own"), make_space("second")).secret)


def test_who_and_where(program):
    me = program.get("/me").json()
    assert (me["userDisplayName"], me["activeSpaceKey"], len(me["spaces"])) == ("Ada", "own", 2)
    assert [space["key"] for space in program.get("/spaces").json()] == ["own", "second"]
    assert program.get("/spaces/second").json()["isDefault"] is False
    answer = program.client.put("/api/v1/me/active-space", {"spaceKey": "second"}, content_type="application/json")
    assert {space["key"]: space["isDefault"] for space in answer.json()} == {"own": False, "second": True}


def test_a_memory_is_saved_read_searched_and_forgotten(program):
    answer = program.post("/memories", {"content": "Invoices are paid within thirty days.", "category": "finance"})
    assert answer.status_code == 201
    saved = answer.json()
    assert answer["Location"] == f"/api/v1/memories/{saved['memoryId']}"
    read = program.client.get(answer["Location"]).json()
    assert (read["text"], read["createdBy"], read["isActive"]) == ("Invoices are paid within thirty days.", "Ada", True)
    assert read["createdAt"].endswith("+00:00")
    assert program.post("/memories", {"content": read["text"], "category": "finance"}).status_code == 200
    found = program.post("/search", {"query": "When do bills have to be paid?"}).json()
    assert found["matches"][0]["id"] == saved["memoryId"]
    assert program.get("/search", keyword="thirty").json()["matches"][0]["score"] == 1.0
    assert program.client.delete(answer["Location"]).json()["affectedCount"] == 1
    assert program.get("/search", keyword="thirty").json()["matches"] == []
    assert program.client.get(answer["Location"]).json()["isActive"] is False


def test_forgetting_by_content_asks_back_when_unclear(program):
    program.post("/memories", {"content": "Anna's favourite colour is blue."})
    unclear = program.post("/memories/forget", {"content": "Anna's favourite colour is green."}).json()
    assert (unclear["affectedCount"], len(unclear["candidates"])) == (0, 1)
    assert program.post("/memories/forget", {"content": "anna's favourite colour is blue"}).json()["affectedCount"] == 1


def test_a_document_is_stored_and_read_whole(program):
    content = "word " * 50_000
    answer = program.post("/documents", {"title": "Long", "docType": "text", "content": content})
    assert answer.status_code == 201
    assert program.client.get(answer["Location"]).json()["rawContent"] == content
    assert program.get("/documents").json()["items"][0]["title"] == "Long"


def test_a_cursor_walks_through_everything_once(program):
    access = access_for_key(program.key)
    assert access is not None
    expected = {str(remember(access, f"note {number}").id) for number in range(7)}
    for path in ("/memories", "/documents"):
        seen: list[str] = []
        cursor = None
        while True:
            page = program.get(path, limit=3, **({"cursor": cursor} if cursor else {})).json()
            seen += [item["id"] for item in page["items"]]
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 7
        assert path != "/memories" or set(seen) == expected


def test_lists_can_be_narrowed(program):
    access = access_for_key(program.key)
    assert access is not None
    remember(access, "a", category="x")
    remember(access, "b")
    assert len(program.get("/memories", category="x").json()["items"]) == 1
    assert program.get("/memories", isActive="false").json()["items"] == []
    assert program.get("/memories", containerTag="second").json()["items"] == []
    assert len(program.get("/graph").json()["nodes"]) == 2


@pytest.mark.parametrize(
    ("path", "parameters", "queries"),
    [
        ("/memories", {}, 4),
        ("/documents", {}, 4),
        ("/spaces", {}, 4),
        ("/graph", {}, 9),
        ("/search", {"keyword": "note"}, 10),
        ("/search", {"category": "x"}, 10),
        ("/search", {"query": "which note is about apples"}, 10),
    ],
)
def test_the_number_of_queries_does_not_grow(program, path, parameters, queries):
    access = access_for_key(program.key)
    assert access is not None
    for number in range(3):
        remember(access, f"note {number} of apples", category="x")
    counts = []
    for _ in range(2):
        program.get(path, **parameters)
        with captured_queries() as captured:
            assert program.get(path, **parameters).status_code == 200
        counts.append(len(captured))
        for number in range(8):
            remember(access, f"note {number} of pears", category="x")
    assert counts[0] == counts[1] <= queries


def test_a_space_is_counted_alone(program, django_assert_max_num_queries):
    program.post("/memories", {"content": "Counted."})
    with django_assert_max_num_queries(4):
        assert program.get("/spaces/own").json()["memoryCount"] == 1


def test_a_reader_may_read_and_not_write():
    space = make_space("shared")
    remember(make_access(space), "Stays.")
    reader = Program(make_key(make_person(role=Role.READER), space).secret)
    assert reader.get("/memories").json()["items"][0]["text"] == "Stays."
    for answer in (
        reader.post("/memories", {"content": "x"}),
        reader.post("/memories/forget", {"content": "Stays."}),
        reader.post("/documents", {"title": "t", "docType": "text", "content": "c"}),
        reader.client.delete(f"/api/v1/memories/{reader.get('/memories').json()['items'][0]['id']}"),
    ):
        assert answer.status_code == 403
        assert answer["Content-Type"] == "application/problem+json"
