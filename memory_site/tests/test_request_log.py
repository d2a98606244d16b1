"""One line a request in the log, and nothing secret in it; HEAD is what GET would be."""

import json

import pytest
from django.test import Client

from memories.tests.factories import make_key, make_person, make_space

pytestmark = pytest.mark.django_db


@pytest.fixture
def lines(caplog):
    with caplog.at_level("INFO", logger="memory_site.requests"):
        yield lambda: [r.getMessage() for r in caplog.records if r.name == "memory_site.requests"]


def test_a_request_leaves_one_line(lines, caplog):
    person = make_person()
    key = make_key(person, make_space()).secret
    client = Client(headers={"X-Api-Key": key})
    client.get("/api/v1/search", {"query": "Nothing of this may be logged."})
    client.post("/api/v1/memories", json.dumps({"content": "Nothing of this either."}), content_type="application/json")
    client.get("/api/v1/nowhere")
    Client().get("/api/v1/me")
    first, second, third, fourth = lines()
    assert first.startswith("method=GET path=/api/v1/search status=200 ms=")
    assert first.endswith(f'user={person.id} credential="test"')
    assert second.startswith("method=POST path=/api/v1/memories status=201 ms=")
    assert "status=404" in third
    assert "status=401" in fourth
    assert fourth.endswith("user=- credential=-")
    assert "Nothing of this" not in caplog.text
    assert key not in caplog.text


def test_an_address_cannot_write_a_line_of_its_own(lines):
    Client().get("/api/v1/%0Amethod=GET%20path=/api/v1/me status=200" + "x" * 1000)
    (line,) = lines()
    assert "\n" not in line
    assert " path=/api/v1/me" not in line
    assert len(line) < 400


def test_other_pages_leave_none(lines):
    Client().get("/admin/login/")
    assert lines() == []


@pytest.mark.parametrize("path", ["/api/v1/me", "/api/v1/spaces", "/api/v1/memories", "/api/v1/openapi.json"])
def test_head_is_get_without_its_body(lines, path):
    client = Client(headers={"X-Api-Key": make_key(make_person(), make_space()).secret})
    answer = client.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["Content-Type"] == client.get(path)["Content-Type"]
    assert "method=HEAD" in lines()[0]
    assert client.head("/api/v1/memories/forget").status_code == 405


def test_head_over_http(site):
    import httpx2

    key = make_key(make_person(), make_space()).secret
    answer = httpx2.head(f"{site}/api/v1/me", headers={"X-Api-Key": key})
    assert (answer.status_code, answer.content) == (200, b"")
