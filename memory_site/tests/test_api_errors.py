"""Every error of the API is a problem with one clear sentence, whatever was sent."""

import json
import re
import uuid

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg_pool import PoolTimeout

from memories.models import Memory
from memories.tests.factories import make_access, make_key, make_person, make_space, remember

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    key = make_key(make_person(), make_space("own")).secret
    return Client(headers={"X-Api-Key": key}, raise_request_exception=False)


def problem(answer, status: int) -> dict[str, object]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body = json.loads(answer.content)
    assert body["status"] == status
    assert body["title"]
    assert body["detail"].endswith(".")
    assert not re.search(r"Traceback|pydantic|psycopg|https?://", answer.content.decode())
    return dict(body)


def test_without_a_key_nothing_is_served():
    for headers in ({}, {"X-Api-Key": "mmcp_wrong"}, {"Authorization": "Bearer x"}):
        answer = Client(headers=headers).get("/api/v1/me")
        problem(answer, 401)
        assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "not valid JSON"),
        (b"", 422, "The body is required."),
        (b"\xff", 400, "not valid JSON"),
        (b"[" * 100_000, 400, "not valid JSON"),
        (b"[]", 422, "must be a JSON object"),
        (b"null", 422, ""),
        (b"{}", 422, "content is required."),
        (b'{"content": 5}', 422, "content must be text."),
        (b'{"content": ["a"]}', 422, "content must be text."),
        (b'{"content": " "}', 422, "content must not be empty."),
        (b'{"content": "\\u0000"}', 422, "content must not be empty."),
        (b'{"content": "a\\ud800"}', 422, "surrogate"),
        (b'{"content": "a", "category": "%s"}' % (b"c" * 101), 422, "category is too long"),
        (b'{"content": "%s"}' % (b"x" * 10_000_000), 422, "content is too long"),
        (b'{"content": "a", "nope": 1}', 422, "nope is not known here."),
        (b'{"content": "a", "container_tag": "own"}', 422, "container_tag is not known here."),
        (b'{"content": "a", "\\u0000": 1}', 422, "is not known here."),
        (b'{"content": "a", "\\ud800": 1}', 422, "surrogate"),
        (b'{"content": "a", "%s": 1}' % (b"k" * 1_000_000), 422, "kkk… is not known here."),
        (b'{"content": "a", "limit": 1%s}' % (b"0" * 5000), 400, "not valid JSON"),
        (b'{"content": "a", "containerTag": "nowhere"}', 404, "not found or is not accessible"),
    ],
    ids=range(21),
)
def test_a_bad_memory_is_refused_in_words_and_not_stored(client, body, status, said):
    answer = client.post("/api/v1/memories", body, content_type="application/json")
    assert said in json.dumps(problem(answer, status), ensure_ascii=False)
    assert len(answer.content) < 2_000
    assert not Memory.objects.exists()


@pytest.mark.parametrize("number", ["true", '"5"', "5.5", "null", "[]", "NaN", "1e400"])
def test_only_a_number_is_a_number(client, number):
    body = f'{{"query": "a", "limit": {number}}}'
    answer = client.post("/api/v1/search", body, content_type="application/json")
    assert problem(answer, 422)["errors"] == ["limit must be a whole number."]


@pytest.mark.parametrize("flag", ["1", '"yes"', "null"])
def test_only_true_and_false_are_a_flag(client, flag):
    body = f'{{"query": "a", "includeProfile": {flag}}}'
    answer = client.post("/api/v1/search", body, content_type="application/json")
    assert problem(answer, 422)["errors"] == ["includeProfile must be true or false."]


def test_each_wrong_field_gets_its_sentence_and_a_thousand_do_not(client):
    fields = {"title": 1, "docType": 2, "content": 3, "summary": 4}
    answer = client.post("/api/v1/documents", fields, content_type="application/json")
    assert problem(answer, 422)["errors"] == [f"{name} must be text." for name in fields]
    fields = {f"field{number}": 1 for number in range(1000)}
    answer = client.post("/api/v1/documents", fields, content_type="application/json")
    assert len(problem(answer, 422)["errors"]) == 20


def test_other_content_types_are_refused(client):
    problem(client.post("/api/v1/memories", b"{}", content_type="text/plain"), 415)


def test_a_body_over_the_limit_is_refused(client, settings):
    problem(
        client.post("/api/v1/memories", b"x" * (settings.MAXIMUM_BODY_BYTES + 1), content_type="application/json"), 413
    )


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/memories?limit=x", 422, "limit must be a whole number."),
        ("/memories?isActive=perhaps", 422, "isActive must be true or false."),
        ("/memories?cursor=zzz", 422, "cursor is not one"),
        ("/memories?catgory=x", 422, "Unknown parameter: catgory"),
        ("/memories?is_active=true", 422, "Unknown parameter: is_active"),
        ("/memories?category=%00", 422, "category must not contain the character NUL."),
        ("/memories?limit=", 422, "limit must be a whole number."),
        ("/memories?cursor=" + "W1tb" * 10_000, 422, "cursor is too long"),
        ("/documents?cursor=" + "W1tb" * 10_000, 422, "cursor is too long"),
        ("/me?verbose=1", 422, "Unknown parameter: verbose; none is allowed here."),
        ("/spaces/%00", 422, "must not be empty"),
        ("/spaces/" + "x" * 5_000, 422, "too long"),
        ("/memories/zzz", 422, "memoryId must be an id"),
        (f"/memories/{uuid.uuid4()}", 404, "not found or is not accessible"),
        ("/documents/zzz", 422, "documentId must be an id"),
        (f"/documents/{uuid.uuid4()}", 404, "not found or is not accessible"),
        ("/spaces/nowhere", 404, "not found or is not accessible"),
        ("/search", 422, "At least one of query, keyword and category is needed."),
        ("/search?query=a&limit=1e9", 422, "limit must be a whole number."),
        ("/nothing", 404, "There is nothing at this address"),
    ],
)
def test_a_bad_question_is_answered_in_words(client, path, status, said):
    assert said in json.dumps(problem(client.get(f"/api/v1{path}"), status), ensure_ascii=False)


def test_a_wrong_method_names_the_right_ones(client):
    answer = client.patch("/api/v1/memories")
    problem(answer, 405)
    assert "POST" in answer["Allow"]


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1/", "/api/v2/me", "/api/v1/me/"])
def test_an_address_that_is_none_is_a_problem_too(client, path):
    problem(client.get(path), 404)


def test_a_host_that_is_not_served_is_a_problem_too(client):
    problem(client.get("/api/v1/me", headers={"Host": "elsewhere.example"}), 400)


def test_answers_are_not_kept_by_caches(client):
    for path in ("/me", "/memories", "/nothing"):
        assert client.get(f"/api/v1{path}")["Cache-Control"] == "no-store"


def test_someone_elses_ids_look_like_unknown_ones(client):
    theirs = remember(make_access("foreign"), "Theirs.")
    for path, identifier in (("memories", theirs.id), ("documents", theirs.document_id)):
        unknown = uuid.uuid4()
        a = problem(client.get(f"/api/v1/{path}/{identifier}"), 404)
        b = problem(client.get(f"/api/v1/{path}/{unknown}"), 404)
        assert str(a).replace(str(identifier), "") == str(b).replace(str(unknown), "")
    problem(client.delete(f"/api/v1/memories/{theirs.id}"), 404)
    theirs.refresh_from_db()
    assert theirs.is_active


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "/api/v1/spaces/nowhere", None),
        ("put", "/api/v1/me/active-space", {"spaceKey": "nowhere"}),
        ("get", "/api/v1/memories?containerTag=nowhere", None),
        ("post", "/api/v1/search", {"query": "x", "containerTag": "nowhere"}),
    ],
)
def test_an_unknown_space_is_told_in_words_of_rest(client, method, path, body):
    sent = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    said = str(problem(getattr(client, method)(path, **sent), 404)["detail"])
    assert "GET /api/v1/spaces shows" in said
    assert "listSpaces" not in said


def test_a_blank_space_key_is_named_as_it_was_sent(client):
    sent = {"data": json.dumps({"spaceKey": " "}), "content_type": "application/json"}
    assert str(problem(client.put("/api/v1/me/active-space", **sent), 422)["detail"]).startswith("spaceKey must")


def test_without_an_active_space_rest_says_how_to_choose_one():
    unspaced = Client(headers={"X-Api-Key": make_key(make_person()).secret})
    said = str(problem(unspaced.get("/api/v1/memories"), 404)["detail"])
    assert "PUT /api/v1/me/active-space" in said
    assert "setActiveSpace" not in said


def test_too_many_requests_are_told_when_to_come_back(client, settings):
    settings.RATE_LIMIT_ENABLED = True
    settings.RATE_LIMIT_REQUESTS = 2
    answers = [client.get("/api/v1/me") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    problem(answers[2], 429)
    assert int(answers[2]["Retry-After"]) >= 1


def test_an_error_nobody_foresaw_is_told_by_number_only(client, monkeypatch, caplog):
    from memories import api

    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(api, "list_memories_after", broken)
    body = problem(client.get("/api/v1/memories"), 500)
    number = re.search(r"error ([0-9a-f]{12})", str(body["detail"]))
    assert number
    assert number[1] in caplog.text
    assert "secret detail" not in str(body)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_is_gone_is_worth_another_try(client, monkeypatch, error):
    from spaces import rest

    def gone(*args, **kwargs):
        raise error("connection to db.internal.example failed")

    monkeypatch.setattr(rest, "access_for_key", gone)
    answer = client.get("/api/v1/me")
    assert "example" not in str(problem(answer, 503))
    assert int(answer["Retry-After"]) >= 1


def test_a_pool_without_a_free_connection_is_no_missing_database(client, monkeypatch):
    from spaces import rest

    def exhausted(*args, **kwargs):
        raise OperationalError("couldn't get a connection") from PoolTimeout("after 10 s")

    monkeypatch.setattr(rest, "access_for_key", exhausted)
    answer = client.get("/api/v1/me")
    assert str(problem(answer, 503)["detail"]).startswith("The server is busy")
    assert int(answer["Retry-After"]) >= 1


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
paths = st.sampled_from(["memories", "memories/forget", "search", "documents"])
names = st.sampled_from(["content", "category", "source", "containerTag", "query", "keyword", "limit", "title"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["memories", "memories/forget", "search", "documents"]), st.dictionaries(names, values, max_size=4)
)
def test_no_body_whatever_breaks_the_server(client, path, body):
    answer = client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
    assert answer.status_code < 500
    if answer.status_code >= 400:
        problem(answer, answer.status_code)


@pytest.mark.parametrize(
    "moment",
    ["2026-06-06T00:00:00+01:00:00.5", "2026-01-01T00:00:00-23:59:59.999999", "0001-01-01T00:00:00+23:59",
     "9999-12-31T23:59:59-23:59", "2026-01-01", "2026-W01-1", "", "nonsense"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["memories", "documents"])
def test_a_cursor_made_by_hand_is_refused_or_read_and_never_an_error_of_ours(client, path, moment):
    from core.paging import encode_cursor

    cursor = encode_cursor(moment, str(uuid.uuid4()))
    assert client.get(f"/api/v1/{path}", {"cursor": cursor}).status_code in (200, 422)
