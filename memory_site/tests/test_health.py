import pytest
from django.db import DatabaseError
from django.test import Client

from memory_site import health

pytestmark = pytest.mark.django_db(transaction=True)


def broken() -> bool:
    raise DatabaseError("connection to db.internal.example failed")


def test_a_healthy_server_says_so_to_anybody():
    answer = Client().get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "healthy"})


def test_without_a_database_it_is_unhealthy_but_alive(monkeypatch):
    monkeypatch.setattr(health, "_database", broken)
    answer = Client().get("/health")
    assert (answer.status_code, answer.json()) == (503, {"status": "unhealthy"})
    assert Client().get("/livez").status_code == 200
    ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "unready")
    assert "example" not in ready.content.decode()


def test_liveness_asks_no_database(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert Client().get("/livez").json() == {"status": "alive"}


def test_readiness_names_each_part():
    answer = Client().get("/readyz")
    assert answer.json() == {
        "status": "ready",
        "checks": {"database": "ok", "migrations": "ok", "redis": "ok", "embeddings": "ok", "pendingEmbeddings": 0},
    }


def test_without_redis_it_is_degraded_and_still_serves(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["checks"]["redis"]) == ("degraded", "failed")


def test_health_cannot_be_written_to():
    assert Client().post("/health").status_code == 405


def test_the_home_page_tells_how_to_connect():
    page = Client().get("/").content.decode()
    assert "claude mcp add" in page
    assert "/mcp" in page
