"""Projects, topics, notes and links over REST."""

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from memories.search.tests.conftest import embedder  # noqa: F401
from memories.tests.factories import make_key, make_person, make_space
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db
API = "/api/v1"


class Caller:
    """Sends JSON with a key and reads it."""

    def __init__(self, key: str) -> None:
        self.client = Client(headers={"X-Api-Key": key})

    def __call__(self, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        content = "" if body is None else json.dumps(body)
        answer = self.client.generic(method, f"{API}{path}", content, content_type="application/json")
        assert answer.status_code == status, answer.content
        return json.loads(answer.content) if answer.content else None

    def write(self, title: str = "Angebot", **fields: Any) -> Any:
        body = {"subtopic": "kunde", "title": title, "bodyMarkdown": "Text.", **fields}
        return self("PUT", "/projects/geb/notes", body, status=fields.pop("status_code", 201))


@pytest.fixture
def space():
    return make_space("geb")


@pytest.fixture
def call(space) -> Caller:
    return Caller(make_key(make_person("Ada"), space).secret)


def test_a_note_is_written_read_changed_and_its_history_told(call):
    made = call.write(tags=["Bau"], sources=[{"type": "mail", "ref": "m-1"}], followUpStatus="offen")
    assert (made["created"], made["followUpStatus"], made["newSubtopics"], made["version"]) == (
        True, "open", ["kunde"], 1,
    )  # fmt: skip
    body = {"subtopic": "kunde", "title": "Angebot", "bodyMarkdown": "Neu."}
    assert call("PUT", "/projects/geb/notes", body)["created"] is False
    address = f"/notes/{made['id']}"
    read = call("GET", address)
    assert (read["bodyMarkdown"], read["project"], read["sources"]) == (
        "Neu.", "geb", [{"type": "mail", "ref": "m-1"}],
    )  # fmt: skip
    changed = call("PATCH", address, {"title": "Angebot 2", "followUpStatus": "none", "version": 2})
    assert (changed["id"], changed["slug"], changed["version"], changed["tags"]) == (
        made["id"],
        "angebot-2",
        3,
        ["bau"],
    )
    assert "followUpStatus" not in changed
    versions = call("GET", f"{address}/versions")
    assert [version["number"] for version in versions] == [3, 2, 1]
    assert call("GET", f"{address}/versions/1")["bodyMarkdown"] == "Text."
    restored = call("POST", f"{address}/restore", {"toVersion": 1})
    assert (restored["bodyMarkdown"], restored["title"]) == ("Text.", "Angebot")


def test_a_stale_write_is_a_conflict_with_both_texts(call):
    note = call.write()
    call("PATCH", f"/notes/{note['id']}", {"bodyMarkdown": "Theirs.", "version": 1})
    for method, path, body in (
        ("PATCH", f"/notes/{note['id']}", {"bodyMarkdown": "Mine.", "version": 1}),
        ("PUT", "/projects/geb/notes", {**_key(note), "bodyMarkdown": "Mine.", "version": 1}),
        ("POST", f"/notes/{note['id']}/restore", {"toVersion": 1, "version": 1}),
    ):
        problem = call(method, path, body, status=409)
        assert (problem["current"]["bodyMarkdown"], problem["current"]["version"]) == ("Theirs.", 2)
        assert problem["rejected"]["bodyMarkdown"] == ("Mine." if method != "POST" else "Text.")
        assert "version 2" in problem["detail"]
    assert call("GET", f"/notes/{note['id']}")["bodyMarkdown"] == "Theirs."


def _key(note: dict[str, Any]) -> dict[str, Any]:
    return {"subtopic": note["subtopic"], "title": note["title"]}


def test_a_write_repeated_under_its_key_gets_the_first_answer(space):
    key = make_key(make_person("Ada"), space).secret
    client = Client(headers={"X-Api-Key": key, "Idempotency-Key": "once"})
    body = json.dumps({"subtopic": "kunde", "title": "Angebot", "bodyMarkdown": "Text."})
    first, again = (client.put(f"{API}/projects/geb/notes", body, content_type="application/json") for _ in range(2))
    assert (first.status_code, first.json()["version"]) == (201, 1)
    assert (again.status_code, again.json(), again["Location"]) == (201, first.json(), first["Location"])


def test_a_title_that_is_taken_is_a_conflict(call):
    call.write("One")
    other = call.write("Two")
    assert "already exists" in call("PATCH", f"/notes/{other['id']}", {"title": "one"}, status=409)["detail"]


def test_notes_are_listed_by_cursor_topic_tag_and_status(call):
    for number in range(12):
        call.write(f"N {number}", subtopic=f"kunde/{number % 2}", tags=["even" if number % 2 == 0 else "odd"])
    outdated = call.write("Old")
    call("PATCH", f"/notes/{outdated['id']}", {"status": "veraltet"})
    first = call("GET", "/projects/geb/notes")
    second = call("GET", f"/projects/geb/notes?cursor={first['nextCursor']}")
    assert [item["title"] for item in first["items"] + second["items"]] == [f"N {n}" for n in range(11, -1, -1)]
    assert "nextCursor" not in second
    assert "bodyMarkdown" not in first["items"][0]
    assert len(call("GET", "/projects/geb/notes?subtopic=kunde/1")["items"]) == 6
    assert len(call("GET", "/projects/geb/notes?tag=odd&tag=x&limit=50")["items"]) == 6
    assert len(call("GET", "/projects/geb/notes?status=any&limit=50")["items"]) == 13
    assert [item["title"] for item in call("GET", "/projects/geb/notes?status=outdated")["items"]] == ["Old"]
    call("GET", "/projects/geb/notes?subtopic=nowhere", status=404)
    call("GET", "/projects/geb/notes?cursor=x", status=422)
    counts = {topic["subtopic"]: topic["totalCount"] for topic in call("GET", "/projects/geb/topics")}
    assert counts == {"kunde": 12, "kunde/0": 6, "kunde/1": 6}


def test_a_note_is_deleted_listed_as_such_and_restored(call):
    note = call.write()
    call("DELETE", f"/notes/{note['id']}?reason=Mistake", status=204)
    call("GET", f"/notes/{note['id']}", status=404)
    assert call("GET", "/projects/geb/notes")["items"] == []
    assert [item["id"] for item in call("GET", "/projects/geb/notes?deleted=true")["items"]] == [note["id"]]
    assert call("POST", f"/notes/{note['id']}/restore", {})["id"] == note["id"]
    assert len(call("GET", "/projects/geb/notes")["items"]) == 1


def test_links_are_made_listed_and_taken_back(call):
    old, new = call.write("Old"), call.write("New")
    body = {"toEntryId": old["id"], "relationType": "supersedes", "note": "Prices"}
    made = call("PUT", f"/notes/{new['id']}/links", body)
    assert made == {
        "fromEntryId": new["id"], "toEntryId": old["id"], "relationType": "supersedes", "note": "Prices",
    }  # fmt: skip
    (link,) = call("GET", f"/notes/{old['id']}/links")
    assert (link["entryId"], link["direction"], link["status"]) == (new["id"], "incoming", "current")
    done = call("DELETE", f"/notes/{new['id']}/links/supersedes/{old['id']}?reactivate=true")
    assert done == {"unlinked": True, "canReactivate": False, "reactivated": True}
    assert call("DELETE", f"/notes/{new['id']}/links/supersedes/{old['id']}")["unlinked"] is False
    call("PUT", f"/notes/{new['id']}/links", {**body, "relationType": "likes"}, status=422)


def test_notes_are_merged_and_sources_known(call):
    one, other = call.write("One"), call.write("Two", sources=[{"type": "mail", "ref": "m-1"}])
    merged = call("POST", f"/notes/{one['id']}/merge", {"otherEntryIds": [other["id"]]})
    assert (merged["id"], merged["mergedIds"]) == (one["id"], [other["id"]])
    known = call("POST", "/sources/check", {"sourceType": "mail", "sourceRefs": ["m-1", "m-2"], "project": "geb"})
    assert known == {"m-1": True, "m-2": False}


@pytest.mark.usefixtures("embedder")
def test_similar_notes_are_reported(call):
    for title in ("One", "Two"):
        call.write(title, bodyMarkdown="The screed dries in 28 days, says the builder.")
    found = call("POST", "/similar-notes", {"project": "geb", "threshold": 0.5, "autoLink": True})
    assert (len(found["items"]), found["items"][0]["linked"], found["threshold"]) == (1, True, 0.5)
    assert {found["items"][0][side]["title"] for side in ("entryA", "entryB")} == {"One", "Two"}


@pytest.mark.usefixtures("embedder")
def test_notes_and_facts_are_searched(call):
    note = call.write(bodyMarkdown="The screed dries.", tags=["bau"])
    call("POST", "/memories", {"content": "Screed was poured."}, status=201)
    found = call("POST", "/notes/search", {"query": "screed dries"})
    assert [item["kind"] for item in found["items"]] == ["note", "fact"]
    assert (found["searched"], found["reachable"], found["degraded"]) == (1, 1, [])
    browsed = call("POST", "/notes/search", {"tags": ["bau"], "project": "geb", "subtopic": "kunde"})
    assert [item["id"] for item in browsed["items"]] == [note["id"]]
    call("POST", "/notes/search", {"query": "x", "limit": -1}, status=422)


def test_what_is_open_is_listed(call):
    call.write("Done")
    call.write("Open", followUpStatus="waiting")
    assert [item["title"] for item in call("GET", "/follow-ups?project=geb")["items"]] == ["Open"]
    assert [item["followUpStatus"] for item in call("GET", "/follow-ups")["items"]] == ["waiting"]


def test_projects_are_made_listed_and_changed_by_their_manager(call):
    made = call("POST", "/projects", {"name": "Ferienhaus", "sensitivityLevel": "hoch"}, status=201)
    assert (made["slug"], made["sensitivityLevel"], made["canManage"]) == ("ferienhaus", "high", True)
    changed = call("PATCH", "/projects/ferienhaus", {"name": "Haus", "sensitivityLevel": "low"})
    assert (changed["slug"], changed["name"], changed["sensitivityLevel"]) == ("ferienhaus", "Haus", "low")
    assert {project["slug"]: project["canManage"] for project in call("GET", "/projects")} == {
        "ferienhaus": True, "geb": False,
    }  # fmt: skip
    call("PATCH", "/projects/geb", {"name": "Mine now"}, status=403)
    call("POST", "/projects", {"name": "Ferienhaus", "sensitivityLevel": "low"}, status=409)
    call("POST", "/projects", {"name": "X", "sensitivityLevel": "severe"}, status=422)


def test_who_may_only_read_writes_nothing(space, call):
    note = call.write()
    reader = Caller(make_key(make_person("Rea"), space, level=AccessLevel.READ).secret)
    assert reader("GET", f"/notes/{note['id']}")["bodyMarkdown"] == "Text."
    for method, path, body in (
        ("PUT", "/projects/geb/notes", {"title": "x", "bodyMarkdown": "x"}),
        ("PATCH", f"/notes/{note['id']}", {"title": "x"}),
        ("DELETE", f"/notes/{note['id']}", None),
        ("POST", f"/notes/{note['id']}/restore", {"toVersion": 1}),
    ):
        reader(method, path, body, status=403)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"title": "🎉", "bodyMarkdown": "x"}, "letters or digits"),
        ({"title": "x"}, "bodyMarkdown is required"),
        ({"title": "x", "bodyMarkdown": "x", "subTopic": "y"}, "subTopic is not known here"),
        ({"title": "x", "bodyMarkdown": "x", "tags": "y"}, "tags"),
        ({"title": "x", "bodyMarkdown": "x", "sources": [{"type": "mail"}]}, "ref is required"),
        ({"title": "x", "bodyMarkdown": "x", "version": "1"}, "version must be a whole number"),
        ({"title": "x", "bodyMarkdown": "x", "subtopic": "memories/x"}, "must not begin with"),
    ],
)
def test_mistakes_are_told(call, body, told):
    assert told in call("PUT", "/projects/geb/notes", body, status=422)["detail"]


def test_ids_that_are_none_and_ids_of_nothing(call):
    call("GET", "/notes/x", status=422)
    call("GET", f"/notes/{uuid.uuid4()}", status=404)
    note = call.write()
    call("GET", f"/notes/{note['id']}/versions/7", status=404)
    call("GET", f"/notes/{note['id']}/versions/{10**12}", status=404)


def test_lists_take_a_few_queries_however_long(call, django_assert_max_num_queries):
    for number in range(10):
        call.write(f"N {number}", tags=["a", f"t{number}"], followUpStatus="open")
    # Of these three tell who calls.
    with django_assert_max_num_queries(8):
        assert len(call("GET", "/projects/geb/notes?tag=a&subtopic=kunde")["items"]) == 10
    with django_assert_max_num_queries(7):
        assert len(call("GET", "/follow-ups")["items"]) == 10
