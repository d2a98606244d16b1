"""The fixed window per caller in Redis, and what happens without it."""

import os
import secrets
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from accounts.rate_limit import client_address, seconds_to_wait

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def limit(settings):
    settings.RATE_LIMIT_ENABLED = True
    settings.RATE_LIMIT_REQUESTS = 3
    settings.RATE_LIMIT_WINDOW_SECONDS = 60
    return settings


@pytest.fixture
def caller() -> str:
    return secrets.token_hex(16)


def counter_of(caller: str, settings: Any) -> tuple["redis.Redis", bytes]:
    """Count a first request of `caller`: Redis, and the name of the counter that came to be."""
    connection = redis.Redis.from_url(settings.REDIS_URL)
    before = set(connection.scan_iter("rate:*"))
    seconds_to_wait(caller, "192.0.2.1")
    (name,) = set(connection.scan_iter("rate:*")) - before
    return connection, name


def test_requests_up_to_the_limit_pass_and_the_next_ones_wait(limit, caller):
    assert [seconds_to_wait(caller, "192.0.2.1") for _ in range(3)] == [None, None, None]
    assert 1 <= seconds_to_wait(caller, "192.0.2.1") <= 60


def test_each_caller_has_a_budget_of_its_own(limit, caller):
    for _ in range(4):
        seconds_to_wait(caller, "192.0.2.1")
    assert seconds_to_wait(caller, "192.0.2.1") is not None
    assert seconds_to_wait(f"{caller} someone else", "192.0.2.1") is None


def test_waiting_is_told_in_whole_seconds_rounded_up(limit, caller):
    limit.RATE_LIMIT_REQUESTS = 1
    limit.RATE_LIMIT_WINDOW_SECONDS = 1
    seconds_to_wait(caller, "192.0.2.1")
    assert seconds_to_wait(caller, "192.0.2.1") == 1


def test_a_window_ends(limit, caller):
    connection, name = counter_of(caller, limit)
    while seconds_to_wait(caller, "192.0.2.1") is None:
        pass
    connection.pexpireat(name, 1)
    assert seconds_to_wait(caller, "192.0.2.1") is None


def test_later_requests_do_not_prolong_the_window(limit, caller):
    connection, name = counter_of(caller, limit)
    connection.pexpire(name, 30_000)
    for _ in range(5):
        seconds_to_wait(caller, "192.0.2.1")
    assert 0 < connection.pttl(name) <= 30_000


def test_a_counter_without_an_end_gets_one(limit, caller):
    connection, name = counter_of(caller, limit)
    connection.persist(name)
    seconds_to_wait(caller, "192.0.2.1")
    assert connection.pttl(name) > 0


def test_the_key_itself_is_not_kept(limit, caller):
    _, name = counter_of(caller, limit)
    assert caller.encode() not in name


def test_concurrent_requests_are_counted_exactly(limit, caller):
    limit.RATE_LIMIT_REQUESTS = 20
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: seconds_to_wait(caller, "192.0.2.1"), range(60)))
    assert answers.count(None) == 20


def test_all_processes_count_together(limit, caller):
    program = "import django; django.setup(); from accounts.rate_limit import seconds_to_wait as wait; "
    program += "import sys; print([wait(sys.argv[1], '192.0.2.1') is None for _ in range(2)])"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memory_site.settings",
        "REDIS_URL": limit.REDIS_URL,
        "RATE_LIMIT_ENABLED": "1",
        "RATE_LIMIT_REQUESTS": "3",
    }
    for expected in ("[True, True]", "[True, False]"):
        done = subprocess.run(
            [sys.executable, "-c", program, caller],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == expected
    assert seconds_to_wait(caller, "192.0.2.1") is not None


def test_it_can_be_turned_off(limit, caller):
    limit.RATE_LIMIT_ENABLED = False
    assert [seconds_to_wait(caller, "192.0.2.1") for _ in range(10)] == [None] * 10


def test_without_redis_requests_pass_and_a_line_a_minute_says_so(limit, caller, caplog, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr("accounts.rate_limit.time.monotonic", lambda: now)
    limit.REDIS_URL = "redis://127.0.0.1:1/1"
    for said in (1, 2):
        for _ in range(6):
            assert seconds_to_wait(caller, "192.0.2.1") is None
            now += 10
        assert caplog.text.count("the rate limit is off") == said
    assert caller not in caplog.text


def test_a_redis_that_hangs_is_not_waited_for_by_every_request(limit, caller):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(200)
        limit.REDIS_URL = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        assert [seconds_to_wait(caller, "192.0.2.1") for _ in range(50)] == [None] * 50
        assert waiting_connections(listener) < 5


def waiting_connections(listener: socket.socket) -> int:
    listener.setblocking(False)
    number = 0
    while True:
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            return number
        number += 1


@given(st.text())
def test_any_text_may_be_presented_as_a_key(text):
    from django.test import override_settings

    with override_settings(RATE_LIMIT_ENABLED=True, RATE_LIMIT_REQUESTS=10_000):
        assert seconds_to_wait(text, "192.0.2.1") is None


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.5", "198.51.100.7", "203.0.113.5"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "192.0.2.1, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "192.0.2.1, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "2001:DB8::1", "2001:db8::1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7, nonsense", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.2", "10.0.0.1"),
    ],
)
def test_only_a_trusted_proxy_is_believed_about_the_address(settings, peer, forwarded, address):
    settings.TRUSTED_PROXIES = ["10.0.0.1", "10.0.0.2"]
    assert client_address(peer, forwarded) == address
