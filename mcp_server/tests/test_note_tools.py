"""The tools of notes, over real HTTP with the official client, in both protocol eras."""

import uuid

import pytest

from memories.models import Memory
from memories.tests.factories import make_key, make_person, make_space, remember
from spaces.access import access_for_key
from spaces.models import AccessLevel
from tests.live import ERAS, Agent

WRITTEN = {"project": "geb", "subtopic": "kunde-mueller/vorgang-2026-08", "title": "Angebot", "body_markdown": "Text."}


@pytest.fixture
def key(transactional_db) -> str:
    return make_key(make_person("Ada"), make_space("geb")).secret


@pytest.fixture(params=ERAS)
def agent(request, site, key) -> Agent:
    return Agent(site, key, request.param)


@pytest.fixture
def ada(site, key) -> Agent:
    return Agent(site, key)


def test_a_note_is_written_read_updated_and_its_history_told(agent):
    made = agent.call("memory_upsert", **WRITTEN, tags=["Bau", "bau", "Dach"], sources=[{"type": "mail", "ref": "m-1"}])
    assert made["project"] == "geb"
    assert made["subtopic"] == "kunde-mueller/vorgang-2026-08"
    assert (made["slug"], made["status"], made["follow_up_status"]) == ("angebot", "current", None)
    assert (made["tags"], made["version"], made["created"], made["updated_by"]) == (["bau", "dach"], 1, True, "Ada")
    assert made["new_subtopics"] == ["kunde-mueller", "kunde-mueller/vorgang-2026-08"]
    again = agent.call("memory_upsert", **{**WRITTEN, "subtopic": made["subtopic"], "body_markdown": "Neu."})
    assert (again["id"], again["version"], again["created"]) == (made["id"], 2, False)
    (read,) = agent.call("memory_get", project="geb")
    assert (read["body_markdown"], read["text_truncated"], read["tags"]) == ("Neu.", None, ["bau", "dach"])
    newest, oldest = agent.call("memory_history", entry_id=made["id"])
    assert (newest["number"], oldest["number"], len(newest["git_commit_hash"])) == (2, 1, 40)
    assert agent.call("memory_read", entry_id=made["id"], version=1)["body_markdown"] == "Text."
    assert agent.call("memory_read", entry_id=made["id"])["sources"] == [{"type": "mail", "ref": "m-1"}]
    known = agent.call("memory_check_sources", source_type="mail", source_refs=["m-1", "m-2"])
    assert known == {"m-1": True, "m-2": False}


def test_search_tells_how_to_write_what_it_found(agent):
    made = agent.call("memory_upsert", **WRITTEN, tags=["bau"])
    agent.call("add_memory", content="Der Text steht im Angebot.")
    note, fact = agent.call("memory_search", query="Angebot")
    assert {name: note[name] for name in ("id", "project", "subtopic", "title", "version")} == {
        name: made[name] for name in ("id", "project", "subtopic", "title", "version")
    }
    assert (note["kind"], note["status"], note["tags"], note["excerpt"]) == ("note", "current", ["bau"], "Text.")
    assert (fact["kind"], fact["subtopic"], fact["slug"], fact["project"]) == ("fact", None, None, "geb")
    assert fact["title"] == "Der Text steht im Angebot."
    assert [found["score"] for found in agent.call("memory_search", tags=["BAU"])] == [None]
    assert agent.call("memory_search", query="Angebot", limit=0) == []
    assert agent.call("memory_search") == []


def test_results_match_their_output_schemas(ada):
    """The official client checks structured content against the schema of the tool."""
    made = ada.call("memory_upsert", **WRITTEN, follow_up_status="offen")
    for tool, arguments in (
        ("memory_get", {"project": "geb"}),
        ("memory_search", {"query": "Text"}),
        ("memory_list_open", {}),
        ("memory_history", {"entry_id": made["id"]}),
        ("memory_read", {"entry_id": made["id"]}),
        ("memory_list_projects", {}),
        ("memory_list_topics", {"project": "geb"}),
        ("memory_get_related", {"entry_id": made["id"]}),
        ("memory_check_sources", {"source_type": "mail", "source_refs": []}),
    ):
        result = ada.result(tool, arguments)
        assert not result.is_error, (tool, result.content[0].text)
        assert result.structured_content is not None


def test_a_guessed_topic_makes_another_note_and_says_so(ada):
    first = ada.call("memory_upsert", **WRITTEN)
    guessed = ada.call("memory_upsert", **{**WRITTEN, "subtopic": ""})
    assert guessed["id"] != first["id"]
    assert (guessed["subtopic"], guessed["created"], guessed["new_subtopics"]) == ("allgemein", True, ["allgemein"])


def test_what_is_open_is_listed_in_german_or_english(ada):
    for title, word in (("A", "offen"), ("B", "waiting"), ("C", "none")):
        ada.call("memory_upsert", **{**WRITTEN, "title": title}, follow_up_status=word)
    assert [(e["title"], e["follow_up_status"]) for e in ada.call("memory_list_open", project="geb")] == [
        ("B", "waiting"), ("A", "open"),
    ]  # fmt: skip
    ada.call("memory_upsert", **{**WRITTEN, "title": "A"}, follow_up_status="none", status="veraltet")
    assert [entry["title"] for entry in ada.call("memory_list_open")] == ["B"]
    assert [entry["title"] for entry in ada.call("memory_get", project="geb")] == ["C", "B"]


def test_links_supersede_and_are_taken_back(agent):
    old = agent.call("memory_upsert", **WRITTEN)
    new = agent.call("memory_upsert", **{**WRITTEN, "title": "Neues Angebot"})
    ends = {"from_entry_id": new["id"], "to_entry_id": old["id"], "relation_type": "supersedes"}
    assert agent.call("memory_link_entries", **ends, note="Preise") == {**ends, "note": "Preise"}
    assert [entry["id"] for entry in agent.call("memory_get", project="geb")] == [new["id"]]
    (related,) = agent.call("memory_get_related", entry_id=old["id"])
    assert (related["entry_id"], related["direction"], related["relation_type"]) == (
        new["id"],
        "incoming",
        "supersedes",
    )
    assert (related["subtopic"], related["project"], related["note"]) == (new["subtopic"], "geb", "Preise")
    assert agent.call("memory_unlink_entries", **ends, reactivate=True)["reactivated"]
    assert agent.call("memory_unlink_entries", **ends)["unlinked"] is False
    assert len(agent.call("memory_get", project="geb")) == 2


def test_a_note_is_deleted_restored_moved_and_merged(ada):
    note = ada.call("memory_upsert", **WRITTEN)
    assert ada.call("memory_delete_entry", entry_id=note["id"]) == {"deleted": True, "id": note["id"]}
    assert "not found" in ada.error("memory_delete_entry", entry_id=note["id"])
    assert ada.call("memory_get", project="geb") == []
    assert ada.call("memory_restore", entry_id=note["id"])["id"] == note["id"]
    moved = ada.call("memory_move", entry_id=note["id"], subtopic="archiv", title="Altes Angebot")
    assert (moved["id"], moved["subtopic"], moved["title"]) == (note["id"], "archiv", "Altes Angebot")
    assert "subtopic, a title" in ada.error("memory_move", entry_id=note["id"])
    other = ada.call("memory_upsert", **WRITTEN, tags=["dach"])
    merged = ada.call("memory_merge", entry_id=note["id"], other_entry_ids=[other["id"]])
    assert merged["merged_ids"] == [other["id"]]
    assert "## Angebot" in merged["body_markdown"]
    assert [entry["id"] for entry in ada.call("memory_get", project="geb")] == [note["id"]]


def test_similar_notes_are_reported_and_linked_when_asked(ada):
    for title in ("Trocknung", "Trocknungszeit"):
        ada.call("memory_upsert", **{**WRITTEN, "title": title, "body_markdown": "Der Estrich trocknet 28 Tage."})
    (pair,) = ada.call("memory_find_similar", project="geb", threshold=0.9)
    assert pair["linked"] is False
    assert {pair["entry_a"]["title"], pair["entry_b"]["title"]} == {"Trocknung", "Trocknungszeit"}
    assert pair["entry_a"]["project"] == "geb"
    assert ada.call("memory_find_similar", project="geb", threshold="0.9", auto_link=True)[0]["linked"]
    assert ada.call("memory_find_similar", project="geb", threshold=0.9) == []


def test_a_project_is_created_and_written_to_at_once(ada):
    made = ada.call("memory_create_project", name="Ferienhaus Süd", sensitivity_level="niedrig")
    assert (made["slug"], made["sensitivity_level"], made["description"]) == ("ferienhaus-sud", "low", None)
    ada.call("memory_upsert", **{**WRITTEN, "project": "ferienhaus-sud"})
    listed = {project["slug"]: project for project in ada.call("memory_list_projects")}
    assert listed["ferienhaus-sud"]["entry_count"] == 1
    assert listed["ferienhaus-sud"]["access_level"] == "ReadWrite"
    assert [topic["total_count"] for topic in ada.call("memory_list_topics", project="ferienhaus-sud")] == [1, 1]
    assert "exists already" in ada.error("memory_create_project", name="Ferienhaus Süd", sensitivity_level="low")


def test_a_stale_write_is_refused(ada):
    note = ada.call("memory_upsert", **WRITTEN)
    ada.call("memory_upsert", **{**WRITTEN, "body_markdown": "Von jemand anderem."}, version=1)
    refused = ada.error("memory_upsert", **{**WRITTEN, "body_markdown": "Von mir."}, version=1)
    assert "version 2" in refused
    assert ada.call("memory_read", entry_id=note["id"])["body_markdown"] == "Von jemand anderem."


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("memory_get", {"project": "nirgends"}, "not found"),
        ("memory_get", {"project": "geb", "subtopic": "nirgends"}, "no topic"),
        ("memory_get", {"project": "geb", "subtopic": "/"}, "at least one level"),
        ("memory_get", {"project": "geb", "sub_topic": "x"}, "Unknown argument: sub_topic"),
        ("memory_get", {}, "project is required"),
        ("memory_upsert", {**WRITTEN, "project": "nirgends"}, "not found"),
        ("memory_upsert", {**WRITTEN, "title": "🎉"}, "letters or digits"),
        ("memory_upsert", {**WRITTEN, "title": "x" * 300}, "at most 255"),
        ("memory_upsert", {**WRITTEN, "follow_up_status": ""}, "open, waiting or none"),
        ("memory_upsert", {**WRITTEN, "tags": "bau"}, "tags must be a list of texts"),
        ("memory_upsert", {**WRITTEN, "tags": [1]}, "tags must be a list of texts"),
        ("memory_upsert", {**WRITTEN, "sources": [{"type": "mail"}]}, "type and ref"),
        ("memory_upsert", {**WRITTEN, "status": "gelb"}, "current or outdated"),
        ("memory_search", {"query": "x", "project": "nirgends"}, "not found"),
        ("memory_search", {"query": "x", "project": "geb", "subtopic": "nirgends"}, "no topic"),
        ("memory_search", {"query": "x", "subtopic": "y"}, "with a project"),
        ("memory_search", {"query": "x", "limit": -1}, "must not be negative"),
        ("memory_search", {"query": "x" * 10_001}, "too long"),
        ("memory_history", {"entry_id": "7"}, "must be an id"),
        ("memory_history", {"entry_id": str(uuid.UUID(int=7))}, "not found"),
        ("memory_read", {"entry_id": str(uuid.UUID(int=7))}, "not found"),
        ("memory_read", {"entry_id": "x"}, "entry_id must be an id"),
        ("memory_delete_entry", {"entry_id": "x"}, "must be an id"),
        ("memory_create_project", {"name": "X", "sensitivity_level": "streng"}, "low, medium or high"),
        ("memory_create_project", {"name": "!!!", "sensitivity_level": "low"}, "letters or digits"),
        ("memory_find_similar", {"project": "nirgends"}, "not found"),
        ("memory_find_similar", {"threshold": 3}, "at most 1"),
        ("memory_merge", {"entry_id": str(uuid.UUID(int=7)), "other_entry_ids": []}, "not found"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_sentence(ada, tool, arguments, told):
    sentence = ada.error(tool, **arguments)
    assert told in sentence
    assert "\n" not in sentence


def test_relations_are_checked_in_order(ada):
    note = ada.call("memory_upsert", **WRITTEN)["id"]
    missing = str(uuid.UUID(int=7))
    for ends, told in (
        ((note, "x", "likes"), "to_entry_id must be an id"),
        ((note, note, "likes"), "relation_type must be one of"),
        ((note, note, "mentions"), "linked to itself"),
        ((note, missing, "mentions"), "not found"),
    ):
        arguments = dict(zip(("from_entry_id", "to_entry_id", "relation_type"), ends, strict=True))
        assert told in ada.error("memory_link_entries", **arguments)


def test_facts_are_read_and_linked_too(ada, key):
    access = access_for_key(key)
    assert access is not None
    fact = remember(access, "The office closes at six.")
    read = ada.call("memory_read", entry_id=str(fact.id))
    assert (read["kind"], read["body_markdown"], read["slug"], read["subtopic"]) == ("fact", fact.text, None, None)
    note = ada.call("memory_upsert", **WRITTEN)
    ada.call("memory_link_entries", from_entry_id=note["id"], to_entry_id=str(fact.id), relation_type="mentions")
    (related,) = ada.call("memory_get_related", entry_id=note["id"])
    assert (related["kind"], related["title"]) == ("fact", fact.text)


def test_long_answers_are_cut_and_read_on(ada):
    text = "".join(f"{number:06}" for number in range(15_000))
    note = ada.call("memory_upsert", **{**WRITTEN, "body_markdown": text})
    assert note["text_truncated"]
    (listed,) = ada.call("memory_get", project="geb")
    assert len(listed["body_markdown"]) == 60_000
    first = ada.call("memory_read", entry_id=note["id"])
    rest = ada.call("memory_read", entry_id=note["id"], offset=first["next_offset"])
    assert first["body_markdown"] + rest["body_markdown"] == text
    assert rest["next_offset"] is None
    assert "offset must be between" in ada.error("memory_read", entry_id=note["id"], offset=10**6)


def test_a_long_list_goes_on_where_it_ended(ada, key):
    access = access_for_key(key)
    assert access is not None
    space = access.spaces[0]
    topic = Memory.objects.get(id=ada.call("memory_upsert", **WRITTEN)["id"]).topic
    Memory.objects.bulk_create(
        Memory(
            space_id=space.id, topic=topic, title=f"N {number}", slug=f"n-{number}", text="x",
            content_hash=uuid.uuid4().bytes * 2, created_by_id=access.user_id, updated_by_id=access.user_id,
        )
        for number in range(60)
    )  # fmt: skip
    result = ada.result("memory_get", {"project": "geb"})
    cursor = result.structured_content["next_cursor"]
    assert cursor in result.content[1].text
    first = {entry["id"] for entry in result.structured_content["result"]}
    rest = {entry["id"] for entry in ada.call("memory_get", project="geb", cursor=cursor)}
    assert (len(first), len(rest), first & rest) == (50, 11, set())


def test_readers_may_read_and_not_write(site, key):
    space = access_for_key(key).spaces[0]
    from spaces.models import Space

    reader = Agent(site, make_key(make_person("Rea"), Space.objects.get(id=space.id), level=AccessLevel.READ).secret)
    assert reader.call("memory_get", project="geb") == []
    assert "not write" in reader.error("memory_upsert", **WRITTEN)
    assert "not write" in reader.error("memory_find_similar", project="geb", auto_link=True)
