"""Many clones at once are served, few at a time, without a database connection; a client that goes frees its place."""

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from django.db import connection

from core.errors import Busy
from history.http import places, processes
from history.http.places import Places
from history.tests import git
from history.tests.builders import save
from memories.tests.factories import make_key, make_person, make_space


@pytest.fixture
def space(site, settings, tmp_path):
    settings.MEMORY_HOME = tmp_path / "home"
    space = make_space("team")
    save(space.id, {f"{number % 16:x}/{number}.md": f"Text {number}\n" * 20 for number in range(2000)})
    return space


def test_clones_side_by_side_are_all_whole(site, space, tmp_path):
    keys = [make_key(make_person(), space).secret for _ in range(3)]

    def clone(number):
        address = site.replace("http://", f"http://x:{keys[number % 3]}@")
        git.run(tmp_path, "clone", "-q", "--bare", f"{address}/git/team.git", f"copy-{number}")
        return git.run(tmp_path / f"copy-{number}", "rev-parse", "main^{tree}")

    with ThreadPoolExecutor(12) as pool:
        assert len(set(pool.map(clone, range(12)))) == 1


def test_one_caller_takes_half_of_the_places_at_most():
    async def scenario():
        line = Places(total=4, per_caller=2)
        async with line.taken("a"), line.taken("a"):
            third = asyncio.ensure_future(line._take("a"))
            await asyncio.sleep(0)
            async with line.taken("b"), line.taken("c"):
                assert not third.done()
            await asyncio.sleep(0.01)
            assert not third.done()
        await asyncio.wait_for(third, 1)

    asyncio.run(scenario())


def test_whoever_waits_too_long_is_told_to_come_back(monkeypatch):
    monkeypatch.setattr(places, "PATIENCE_SECONDS", 0.05)

    async def scenario():
        line = Places(total=1, per_caller=1)
        async with line.taken("a"):
            with pytest.raises(Busy):
                await line._take("b")
        async with line.taken("b"):
            pass

    asyncio.run(scenario())


def test_a_client_that_leaves_ends_its_git(site, space, monkeypatch):
    """A clone whose client goes after the first bytes: the process is gone soon, and no connection was held by it."""
    started, ended = threading.Event(), threading.Event()
    plain = processes.output_of

    def noted(*arguments):
        context = plain(*arguments)

        class Noted:
            async def __aenter__(self):
                pieces = await context.__aenter__()
                started.set()
                return self._slowly(pieces)

            async def _slowly(self, pieces):
                async for piece in pieces:
                    yield piece
                    await asyncio.sleep(30)

            async def __aexit__(self, *error):
                await context.__aexit__(*error)
                ended.set()

        return Noted()

    monkeypatch.setattr("history.http.endpoint.output_of", noted)
    key = make_key(make_person(), space).secret
    parts = urlsplit(site)
    with socket.create_connection((parts.hostname, parts.port)) as client:
        client.sendall(
            b"GET /git/team.git/info/refs?service=git-upload-pack HTTP/1.1\r\n"
            b"Host: 127.0.0.1\r\nX-Api-Key: %b\r\n\r\n" % key.encode()
        )
        assert started.wait(20)
        pool = connection.pool
        deadline = time.monotonic() + 10
        while pool is not None and pool.get_stats()["pool_size"] - pool.get_stats().get("pool_available", 0) > 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not ended.is_set()
    assert ended.wait(20)
