"""The REST API as programs meet it: real HTTP, no cookies, many at once."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from django.conf import settings
from django.db import connection

from memories import api
from memories.tests.factories import make_key, make_person, make_space


@pytest.fixture
def program(site):
    key = make_key(make_person(), make_space()).secret
    with httpx2.Client(base_url=f"{site}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        yield client


def test_a_program_remembers_finds_and_forgets(program):
    saved = program.post("/memories", json={"content": "The key to the cellar hangs in the kitchen."})
    assert saved.status_code == 201
    found = program.post("/search", json={"query": "Where is the cellar key?"}).json()["matches"]
    assert [match["id"] for match in found] == [saved.json()["memoryId"]]
    address = httpx2.URL(str(program.base_url)).join(saved.headers["Location"])
    assert program.delete(address).json()["affectedCount"] == 1
    assert program.get("/search", params={"keyword": "cellar"}).json()["matches"] == []


def test_a_body_of_unannounced_length_is_bounded_too(program):
    chunk = b" " * 1_000_000
    chunks = (chunk for _ in range(settings.MAXIMUM_BODY_BYTES // len(chunk) + 1))
    answer = program.post("/memories", content=chunks, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_sixteen_slow_calls_run_side_by_side(program, monkeypatch):
    running, most = 0, 0
    original = api.list_memories_after

    def slow(*args, **kwargs):
        nonlocal running, most
        running += 1
        most = max(most, running)
        # Long enough that all sixteen are on their way, however slow the machine.
        deadline = time.monotonic() + 20
        while most < 16 and time.monotonic() < deadline:
            time.sleep(0.01)
        running -= 1
        return original(*args, **kwargs)

    monkeypatch.setattr(api, "list_memories_after", slow)
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: program.get("/memories"), range(16)))
    assert most == 16
    assert {answer.status_code for answer in answers} == {200}


def test_connections_are_given_back(program):
    pool = connection.pool
    if pool is None:
        pytest.skip("no pool is configured")
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda number: program.get(("/me", "/nothing", "/spaces/x")[number % 3]), range(64)))
    assert {answer.status_code for answer in answers} == {200, 404}
    deadline = time.monotonic() + 10
    while pool.get_stats().get("pool_available", 0) < pool.get_stats()["pool_size"] - 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
