"""The three health addresses: alive, well, ready."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from memories.models import EmbeddingModel, PendingEmbedding
from memories.tests.factories import make_access, remember
from memory_site import health

pytestmark = pytest.mark.django_db(transaction=True)


def broken() -> bool:
    raise DatabaseError("connection to db.internal.example failed")


def test_a_healthy_server_says_so_to_anybody():
    answer = Client().get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "healthy"})


def test_without_a_database_it_is_unhealthy(monkeypatch):
    monkeypatch.setattr(health, "_database", broken)
    answer = Client().get("/health")
    assert (answer.status_code, answer.json()) == (503, {"status": "unhealthy"})
    ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "unready")
    assert "example" not in ready.content.decode()


def test_liveness_asks_neither_database_nor_django(site, monkeypatch):
    from memory_site import asgi

    monkeypatch.setattr(asgi, "django_application", None)
    answer = httpx2.get(f"{site}/livez")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})
    assert httpx2.head(f"{site}/livez").status_code == 200
    assert httpx2.post(f"{site}/livez").status_code == 405


def test_readiness_names_each_part():
    answer = Client().get("/readyz")
    assert answer.json() == {
        "status": "ready",
        "checks": {
            **dict.fromkeys(("database", "migrations", "isolation", "redis", "embeddings"), "ok"),
            "pendingEmbeddings": 0,
            "jobs": {kind: {"waiting": 0, "running": 0, "failed": 0} for kind in ("documents", "embeddings")},
        },
    }


def test_without_redis_it_is_degraded_and_still_serves(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["checks"]["redis"]) == ("degraded", "failed")


@pytest.mark.parametrize("path", ["/health", "/readyz"])
def test_health_cannot_be_written_to(path):
    assert Client(enforce_csrf_checks=True).post(path).status_code == 405


def test_without_embeddings_nothing_is_amiss(settings):
    settings.EMBEDDINGS_PROVIDER = "none"
    answer = Client().get("/readyz").json()
    assert (answer["status"], answer["checks"]["embeddings"]) == ("ready", "off")


def test_a_searched_model_that_cannot_be_asked_narrows_the_service_and_is_not_named(monkeypatch):
    monkeypatch.setattr(health, "searched_problem", lambda: "no such model")
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert answer.json()["checks"]["embeddings"] == "failed"
    assert "model" not in answer.content.decode()


def test_migrations_that_are_missing_are_not_ready(monkeypatch):
    monkeypatch.setattr(health, "_migrated", threading.Event())
    recorded = MigrationRecorder(connection)
    ((_, newest),) = MigrationLoader(connection).graph.leaf_nodes("memories")
    recorded.record_unapplied("memories", newest)
    try:
        answer = Client().get("/readyz")
    finally:
        recorded.record_applied("memories", newest)
    assert (answer.status_code, answer.json()["checks"]["migrations"]) == (503, "failed")
    assert Client().get("/readyz").status_code == 200


def test_debts_are_counted_and_not_named():
    memory = remember(make_access(), "Waits.")
    model, _ = EmbeddingModel.objects.get_or_create(slug="other", defaults={"dimensions": 3})
    PendingEmbedding.objects.create(space_id=memory.space_id, model=model, memory=memory)
    answer = Client().get("/readyz")
    assert answer.json()["checks"]["pendingEmbeddings"] == 1
    assert str(memory.space_id) not in answer.content.decode()


def test_a_database_that_hangs_is_given_up_in_time(monkeypatch):
    monkeypatch.setattr(health, "BUDGET_SECONDS", 0.05)
    release = threading.Event()
    asked = []

    def hanging() -> bool:
        asked.append(1)
        return release.wait(20)

    monkeypatch.setattr(health, "_database", hanging)
    monkeypatch.setattr(health, "_probes", ThreadPoolExecutor(1))
    try:
        for _ in range(3):
            assert Client().get("/health").status_code == 503
    finally:
        release.set()
    health._probes.shutdown()
    # Those that never got a thread were not asked later.
    assert len(asked) == 1


def test_the_home_page_tells_how_to_connect():
    page = Client().get("/").content.decode()
    assert "claude mcp add" in page
    assert "/mcp" in page


def test_a_database_that_keeps_nothing_apart_is_told(monkeypatch):
    assert Client().get("/readyz").json()["checks"]["isolation"] == "ok"
    monkeypatch.setattr(health, "is_enforced", lambda: False)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert answer.json()["checks"]["isolation"] == "failed"
