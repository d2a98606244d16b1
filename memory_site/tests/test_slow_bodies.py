"""A body has a minute to arrive, whoever sends it, and holds no place until then; who leaves is no error."""

import socket
import time

import httpx2
import pytest

from core.concurrency import REQUESTS
from memories.tests.factories import make_key, make_person, make_space


@pytest.fixture
def key(site) -> str:
    return make_key(make_person(), make_space()).secret


def begin(site: str, path: str, key: str, *, chunked: bool = False) -> socket.socket:
    """A POST whose body has begun and does not end."""
    client = socket.create_connection(("127.0.0.1", int(site.rsplit(":", 1)[1])), timeout=20)
    length = "Transfer-Encoding: chunked" if chunked else "Content-Length: 1000"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: {key}\r\nContent-Type: application/json\r\n{length}"
    client.sendall(f"{head}\r\n\r\n".encode() + (b"1\r\n{\r\n" if chunked else b"{"))
    return client


def answer_of(client: socket.socket) -> str:
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts).decode()


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/memories", "/admin/login/"])
@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_that_takes_too_long_is_given_up(site, key, settings, path, chunked):
    settings.MAXIMUM_BODY_SECONDS = 0.5
    with begin(site, path, key, chunked=chunked) as client:
        answer = answer_of(client)
    assert answer.startswith("HTTP/1.1 408 ")
    assert "did not arrive within 0.5 seconds" in answer
    assert "connection: close" in answer.lower()


def test_single_bytes_do_not_buy_time(site, key, settings):
    settings.MAXIMUM_BODY_SECONDS = 1
    began = time.monotonic()
    with begin(site, "/mcp", key) as client:
        client.settimeout(0.1)
        answer = b""
        while not answer and time.monotonic() < began + 20:
            client.sendall(b" ")
            try:
                answer = client.recv(65536)
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_slow_bodies_hold_no_place(site, key):
    clients = [begin(site, "/api/v1/memories", key) for _ in range(REQUESTS + 4)]
    try:
        assert httpx2.get(f"{site}/api/v1/me", headers={"X-Api-Key": key}, timeout=10).status_code == 200
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/memories", "/admin/login/"])
def test_a_client_that_leaves_is_no_error(site, key, path, caplog):
    with caplog.at_level("WARNING"):
        for chunked in (True, False):
            begin(site, path, key, chunked=chunked).close()
        time.sleep(0.5)
    assert [record.getMessage() for record in caplog.records] == []
