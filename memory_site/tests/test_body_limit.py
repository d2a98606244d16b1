"""No body is taken in beyond the limit, announced or not, with or without a key."""

import httpx2
import pytest


@pytest.fixture(autouse=True)
def small_limit(settings):
    settings.MAXIMUM_BODY_BYTES = 200_000
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 200_000


def parts(number: int):
    for _ in range(number):
        yield b"x" * 100_000


@pytest.mark.parametrize("path", ["/api/v1/memories", "/admin/login/", "/", "/mcp"])
@pytest.mark.parametrize("body", [lambda: parts(30), lambda: b"x" * 3_000_000], ids=["chunked", "announced"])
def test_a_large_body_is_refused_and_not_kept(site, path, body, monkeypatch):
    from django.core.handlers.asgi import ASGIHandler

    kept = []
    plain = ASGIHandler.read_body

    async def measured(self, receive):
        file = await plain(self, receive)
        kept.append(file.seek(0, 2))
        file.seek(0)
        return file

    monkeypatch.setattr(ASGIHandler, "read_body", measured)
    answer = httpx2.post(site + path, content=body(), headers={"Content-Type": "application/json"}, timeout=20)
    assert 400 <= answer.status_code < 500
    assert sum(kept) <= 200_000


def test_a_body_whose_last_part_is_too_much_is_answered_at_once(site):
    answer = httpx2.post(
        f"{site}/api/v1/memories", content=parts(3), headers={"Content-Type": "application/json"}, timeout=20
    )
    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_body_within_the_limit_arrives_whole(site):
    answer = httpx2.post(
        f"{site}/api/v1/memories", content=parts(1), headers={"Content-Type": "application/json"}, timeout=20
    )
    assert answer.status_code == 401
