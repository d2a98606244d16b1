"""Contested pairs and restoring over MCP and REST."""

import pytest
from django.test import Client

from memories.models import RelationType
from memories.tests.factories import link, make_key, make_person, make_space, remember
from spaces.access import access_for_key
from tests.live import Agent


@pytest.fixture
def space(transactional_db):
    return make_space("shared")


@pytest.fixture
def key(space) -> str:
    return make_key(make_person("Ada"), space).secret


@pytest.fixture
def pair(space, key):
    ada = access_for_key(key)
    bob = access_for_key(make_key(make_person("Bob"), space).secret)
    assert ada is not None
    assert bob is not None
    old, new = remember(ada, "The office closes at six."), remember(bob, "The office closes at seven.")
    return link(new, old, RelationType.UPDATES, note="Later hours.")


def test_an_agent_lists_decides_and_takes_back(site, key, pair):
    agent = Agent(site, key)
    (listed,) = agent.call("list_contested")["items"]
    assert (listed["pairId"], listed["note"]) == (str(pair.id), "Later hours.")
    assert (listed["updating"]["createdBy"], listed["contested"]["createdBy"]) == ("Bob", "Ada")
    done = agent.call("resolve_contested", pairId=listed["pairId"], decision="supersede", reason="Seven it is.")
    assert (done["affectedCount"], done["memoryId"]) == (1, str(pair.to_memory_id))
    assert agent.call("list_contested")["totalCount"] == 0
    (decided,) = agent.call("list_contested", resolved=True)["items"]
    assert (decided["resolution"]["resolvedBy"], decided["resolution"]["reason"]) == ("Ada", "Seven it is.")
    assert decided["contested"]["supersededByMemoryId"] == str(pair.from_memory_id)
    assert "already" in agent.error("resolve_contested", pairId=str(pair.id), decision="keep_both", reason="No.")
    agent.call("resolve_contested", pairId=str(pair.id), decision="reopen")
    assert agent.call("list_contested")["totalCount"] == 1


def test_an_agent_sees_who_forgot_what_and_restores_it(site, key, pair):
    agent = Agent(site, key)
    agent.call("add_memory", action="forget", memoryId=str(pair.from_memory_id))
    forgotten = agent.call("listMemories")["items"][0]
    assert (forgotten["isActive"], forgotten["forgottenBy"], forgotten["createdBy"]) == (False, "Ada", "Bob")
    assert agent.call("restore_memory", memoryId=forgotten["id"])["affectedCount"] == 1
    assert agent.call("restore_memory", memoryId=forgotten["id"])["affectedCount"] == 0
    restored = agent.call("listMemories")["items"][0]
    assert restored["isActive"]
    assert "forgottenBy" not in restored
    assert agent.call("search_memory", keyword="seven")["matches"][0]["id"] == forgotten["id"]


def test_what_an_agent_may_not_combine_is_refused_in_words(site, key, pair):
    agent = Agent(site, key)
    sentence = agent.error("resolve_contested", pairId=str(pair.id), decision="reopen", memoryId=str(pair.to_memory_id))
    assert "only be given with the decision forget" in sentence
    assert "keep_both, supersede, forget" in agent.error("resolve_contested", pairId=str(pair.id), decision="delete")
    assert "reason must not be empty" in agent.error("resolve_contested", pairId=str(pair.id), decision="keep_both")


def test_a_program_does_the_same(key, pair):
    client = Client(headers={"X-Api-Key": key})
    base = "/api/v1/spaces/shared/contested"
    (listed,) = client.get(base).json()["items"]

    def post(path: str, body: dict[str, str]):
        return client.post(f"{base}/{listed['pairId']}/{path}", body, content_type="application/json")

    body = {"decision": "forget", "memoryId": listed["contested"]["id"], "reason": "Asked."}
    assert post("resolve", body).json()["affectedCount"] == 1
    again = post("resolve", body)
    assert (again.status_code, again["Content-Type"]) == (409, "application/problem+json")
    assert client.get(base).json() == {"items": []}
    assert client.get(base, {"resolved": "true"}).json()["items"][0]["resolution"]["decision"] == "forget"
    assert post("reopen", {"reason": "Wrong one."}).json()["affectedCount"] == 1
    assert len(client.get(base).json()["items"]) == 1


def test_a_program_walks_the_links_and_the_graph(key, pair):
    client = Client(headers={"X-Api-Key": key})
    (linked,) = client.get(f"/api/v1/memories/{pair.from_memory_id}/related", {"types": "Updates"}).json()["items"]
    assert linked == {
        "id": str(pair.to_memory_id),
        "text": "The office closes at six.",
        "relationType": "Updates",
        "hops": 1,
        "isActive": True,
        "direction": "Outgoing",
        "note": "Later hours.",
    }
    graph = client.get("/api/v1/spaces/shared/graph", {"limit": 1}).json()
    assert [node["text"] for node in graph["nodes"]] == ["The office closes at seven.", "The office closes at six."]
    assert [edge["relationType"] for edge in graph["edges"]] == ["Updates"]
    rest = client.get("/api/v1/spaces/shared/graph", {"cursor": graph["nextCursor"], "types": "Extends"}).json()
    assert (len(rest["nodes"]), rest["edges"]) == (1, [])
    assert client.get("/api/v1/spaces/shared/graph", {"depth": "7"}).status_code == 422


def test_a_program_forgets_with_a_reason_and_restores(key, pair):
    client = Client(headers={"X-Api-Key": key})
    address = f"/api/v1/memories/{pair.to_memory_id}"
    assert client.delete(f"{address}?reason=Outdated").json()["affectedCount"] == 1
    assert client.get(address).json()["forgottenReason"] == "Outdated"
    assert client.post(f"{address}/restore").json()["affectedCount"] == 1
    assert client.get(address).json()["isActive"]
