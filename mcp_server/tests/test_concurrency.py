"""Many at once: nobody waits for the others, and nobody becomes somebody else."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mcp_server import tools
from memories.tests.factories import make_key, make_person, make_space
from tests.live import Agent, post, tool_call


def test_callers_are_never_mixed_up(site):
    agents = {}
    for number in range(6):
        space = make_space(f"space-{number}")
        agents[f"Person {number}"] = Agent(
            site, make_key(make_person(f"Person {number}"), space).secret, ("2026-07-28", "legacy")[number % 2]
        )

    def ask(name: str) -> tuple[str, str, str]:
        who = agents[name].call("whoAmI")
        return name, who["userDisplayName"], who["activeSpaceKey"]

    with ThreadPoolExecutor(12) as pool:
        for name, found, space in pool.map(ask, list(agents) * 5):
            assert found == name
            assert space == f"space-{name[-1]}"


def test_sixteen_slow_calls_run_side_by_side_and_keep_nobody_else_waiting(site, monkeypatch):
    arrived, released = threading.Semaphore(0), threading.Event()
    original = tools.list_memories

    def slow(*args, **kwargs):
        arrived.release()
        assert released.wait(60)
        return original(*args, **kwargs)

    monkeypatch.setattr(tools, "list_memories", slow)
    key = make_key(make_person(), make_space()).secret
    message = tool_call("listMemories", {})
    with ThreadPoolExecutor(16) as pool:
        try:
            calls = [pool.submit(post, site, key, message) for _ in range(16)]
            assert all(arrived.acquire(timeout=30) for _ in calls)
            # Authentication has threads of its own.
            assert post(site, "mmcp_wrong", message).status_code == 401
            assert not any(call.done() for call in calls)
        finally:
            released.set()
        answers = [call.result(60) for call in calls]
    assert all(not json.loads(answer.text)["result"].get("isError") for answer in answers)


def test_connections_are_given_back(site):
    from django.db import connection

    pool = connection.pool
    if pool is None:
        pytest.skip("no pool is configured")
    key = make_key(make_person(), make_space()).secret
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: post(site, key, tool_call("listSpaces", {})), range(64)))
    deadline = time.monotonic() + 10
    while pool.get_stats().get("pool_available", 0) < pool.get_stats()["pool_size"] - 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
