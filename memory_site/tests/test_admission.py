"""Many requests at once wait in a fair line, and are told the truth when the wait is too long."""

import asyncio
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import httpx2
import pytest

from core.concurrency import REQUESTS
from memories.tests.factories import make_key, make_person, make_space
from memory_site import admission
from memory_site.admission import Line
from spaces import api


@pytest.fixture
def key(site) -> str:
    return make_key(make_person(), make_space()).secret


class Blockade:
    """Makes `GET /me` stand still, so that all places are taken."""

    def __init__(self, monkeypatch) -> None:
        self.arrived, self.released = threading.Semaphore(0), threading.Event()
        original = api.space_summaries

        def blocked(access):
            self.arrived.release()
            assert self.released.wait(60)
            return original(access)

        monkeypatch.setattr(api, "space_summaries", blocked)

    def fill(self, pool: ThreadPoolExecutor, site: str, key: str) -> list[Future[httpx2.Response]]:
        calls = [pool.submit(ask, site, key) for _ in range(REQUESTS)]
        assert all(self.arrived.acquire(timeout=30) for _ in calls)
        return calls


def ask(site: str, key: str, path: str = "/api/v1/me") -> httpx2.Response:
    return httpx2.get(site + path, headers={"X-Api-Key": key}, timeout=60)


def test_who_waits_is_served_and_health_answers_meanwhile(site, key, monkeypatch):
    blockade = Blockade(monkeypatch)
    with ThreadPoolExecutor(REQUESTS + 8) as pool:
        try:
            calls = blockade.fill(pool, site, key)
            waiting = [pool.submit(ask, site, key) for _ in range(8)]
            for path in ("/livez", "/readyz", "/health"):
                assert ask(site, key, path).status_code == 200
            # Those in line have no thread yet, so nothing of them has begun.
            assert not blockade.arrived.acquire(timeout=0.3)
        finally:
            blockade.released.set()
        assert {call.result(60).status_code for call in [*calls, *waiting]} == {200}


def test_a_wait_that_is_too_long_ends_in_the_truth(site, key, monkeypatch, caplog):
    monkeypatch.setattr(admission, "PATIENCE_SECONDS", 0.2)
    blockade = Blockade(monkeypatch)
    with ThreadPoolExecutor(REQUESTS) as pool, caplog.at_level("INFO", logger="memory_site.requests"):
        try:
            blockade.fill(pool, site, key)
            answer = ask(site, key)
            page = ask(site, key, "/admin/login/")
        finally:
            blockade.released.set()
    assert answer.status_code == page.status_code == 503
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"] == "The server is busy; try again in 5 seconds."
    assert page.text == "The server is busy; try again in 5 seconds."
    assert answer.headers["Retry-After"] == "5"
    assert sum("status=503" in record.getMessage() for record in caplog.records) == 1


def test_who_leaves_the_line_takes_no_place(site, key, monkeypatch):
    blockade = Blockade(monkeypatch)
    port = int(site.rsplit(":", 1)[1])
    with ThreadPoolExecutor(REQUESTS) as pool:
        try:
            calls = blockade.fill(pool, site, key)
            request = f"GET /api/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: {key}\r\n\r\n".encode()
            for _ in range(5):
                with socket.create_connection(("127.0.0.1", port)) as client:
                    client.sendall(request)
                    time.sleep(0.05)
        finally:
            blockade.released.set()
        assert {call.result(60).status_code for call in calls} == {200}
    assert not blockade.arrived.acquire(timeout=0.3)
    # All places are free again.
    with ThreadPoolExecutor(REQUESTS * 2) as pool:
        answers = list(pool.map(lambda _: ask(site, key), range(REQUESTS * 2)))
    assert {answer.status_code for answer in answers} == {200}


def test_places_go_round_among_callers():
    async def order() -> list[bytes]:
        line = Line(1)
        served: list[bytes] = []

        async def visit(caller: bytes) -> None:
            turn = line.enter(caller)
            await turn
            served.append(caller)
            await asyncio.sleep(0)
            line.leave(turn)

        await asyncio.gather(*(visit(caller) for caller in [b"many"] * 5 + [b"one", b"two"]))
        return served

    assert asyncio.run(order()) == [b"many", b"many", b"one", b"two", b"many", b"many", b"many"]


def test_who_gives_up_is_skipped_and_no_place_is_lost():
    async def walk() -> None:
        line = Line(1)
        first = line.enter(b"a")
        given_up, waiting = line.enter(b"b"), line.enter(b"c")
        line.leave(given_up)
        line.leave(first)
        assert waiting.done()
        assert not waiting.cancelled()
        assert not line.enter(b"d").done()
        line.leave(waiting)

    asyncio.run(walk())
