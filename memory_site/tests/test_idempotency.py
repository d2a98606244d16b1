"""Idempotency-Key on REST writes, and idempotencyKey on tools: a repeated write does nothing twice."""

import json

import pytest
from django.test import Client

from documents.models import Document
from mcp_server.tools import TOOLS
from memories.models import Memory
from memories.tests.factories import make_access, make_key, make_person, make_space, remember

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    return Client(headers={"X-Api-Key": make_key(make_person(), make_space()).secret})


def send(client, path, body, key="k", method="POST"):
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.generic(method, f"/api/v1{path}", json.dumps(body), content_type="application/json", headers=headers)


def test_a_repeated_post_gets_the_first_answer_with_its_status_and_location(client):
    body = {"title": "t", "docType": "text", "content": "c"}
    first = send(client, "/documents", body)
    again = send(client, "/documents", body)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again["Location"] == first["Location"]
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Document.objects.count() == 1


def test_without_a_key_two_documents_are_stored(client):
    body = {"title": "t", "docType": "text", "content": "c"}
    for _ in range(2):
        send(client, "/documents", body, key=None)
    assert Document.objects.count() == 2


def test_a_repeated_save_says_saved_and_not_known_already(client):
    first = send(client, "/memories", {"content": "Tea is hot."})
    again = send(client, "/memories", {"content": "Tea is hot."})
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert str(Document.objects.get().id) == first.json()["documentId"]


def test_another_body_under_the_key_is_refused(client):
    send(client, "/memories", {"content": "Tea is hot."})
    answer = send(client, "/memories", {"content": "Ice is cold."})
    assert answer.status_code == 422
    assert "another request" in answer.json()["detail"]
    assert Memory.objects.count() == 1


def test_a_refused_request_leaves_its_key_free(client):
    assert send(client, "/memories", {"content": " "}).status_code == 422
    assert send(client, "/memories", {"content": "Tea is hot."}).status_code == 201


def test_the_key_of_another_credential_is_another_key(client):
    send(client, "/memories", {"content": "Tea is hot."})
    other = Client(headers={"X-Api-Key": make_key(make_person(), make_space()).secret})
    assert "Idempotency-Replayed" not in send(other, "/memories", {"content": "Ice is cold."})


def test_a_repeated_forget_tells_what_the_first_one_did(client):
    first = send(client, "/memories", {"content": "Tea is hot."}, key=None)
    path = f"/memories/{first.json()['memoryId']}"
    assert send(client, path, {}, method="DELETE").json()["affectedCount"] == 1
    assert send(client, path, {}, method="DELETE").json()["affectedCount"] == 1


def call(access, name, **arguments):
    parameters = {parameter.name: parameter.default for parameter in TOOLS[name].parameters}
    return TOOLS[name].function(access, **{**parameters, **arguments})


def test_a_tool_call_that_is_repeated_gives_the_first_answer():
    access = make_access()
    first = call(access, "add_memory", content="Tea is hot.", idempotencyKey="k")
    again = call(access, "add_memory", content="Tea is hot.", idempotencyKey="k")
    assert again.dump() == first.dump()
    assert first.affected_count == 1
    document = {"title": "t", "docType": "text", "content": "c", "idempotencyKey": "k"}
    assert call(access, "create_document", **document).id == call(access, "create_document", **document).id


def test_a_forget_by_content_is_repeatable_too():
    access = make_access()
    remember(access, "Tea is hot.")
    for _ in range(2):
        told = call(access, "add_memory", action="forget", content="Tea is hot.", idempotencyKey="k")
        assert told.affected_count == 1
