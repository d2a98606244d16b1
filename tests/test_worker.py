"""The real worker with the real broker: what is owed gets embedded."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from memories.models import Embedding, EmbeddingModel, ModelState, PendingEmbedding
from memories.services import save
from memories.services.embedding_models import add_model, start_backfill, start_dropping
from memories.services.save import save_memory
from memories.tests.factories import make_access
from tests.providers.fixtures import embedding_server, remote_embeddings, second_model
from tests.waiting import eventually

__all__ = ["embedding_server", "remote_embeddings", "second_model"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def worker():
    with running_worker() as process:
        yield process


@pytest.fixture
def worker_with_a_second_model(second_model, settings):
    """Its settings describe the default model and `large`, as those of the test do."""
    further = settings.EMBEDDINGS_FURTHER["large"]
    with running_worker(
        EMBEDDINGS_PROVIDER="openai",
        EMBEDDINGS_ENDPOINT=settings.EMBEDDINGS_ENDPOINT,
        EMBEDDINGS_MODEL=settings.EMBEDDINGS_MODEL,
        EMBEDDINGS_FURTHER="large",
        **{f"EMBEDDINGS_LARGE_{name.upper()}": value for name, value in further.items()},
    ) as process:
        yield process


@contextmanager
def running_worker(**variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery worker on the test database, with a queue of its own."""
    queue = f"memory-test-{os.getpid()}"
    parts = connection.settings_dict
    base = os.environ["DATABASE_URL"]
    url = base[: base.rindex("/") + 1] + parts["NAME"]
    environment = {**os.environ, "DATABASE_URL": url, "CELERY_QUEUE": queue, **variables}
    command = [sys.executable, "-m", "celery", "-A", "memory_site", "worker", "--concurrency", "1", "--pool", "solo"]
    from memory_site.celery import app

    app.conf.task_default_queue = queue
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        yield process
        process.terminate()
        process.wait(30)


def test_a_long_memory_is_embedded_by_the_worker(worker):
    saved = save_memory(make_access(), content="A sentence of some length about apples. " * 300)
    assert not saved.embedded
    assert eventually(lambda: not PendingEmbedding.objects.exists())
    assert Embedding.objects.filter(memory_id=saved.memory.id).count() > save.MAXIMUM_CHUNKS_INLINE


def test_the_sweep_finds_what_never_reached_the_queue(worker, monkeypatch):
    monkeypatch.setattr(save, "request_embedding", lambda: None)
    monkeypatch.setattr(save, "model_or_none", lambda: None)
    saved = save_memory(make_access(), content="Saved while the engine could not be loaded.")
    assert not PendingEmbedding.objects.exists()
    from memories.tasks import sweep

    sweep.delay()
    assert eventually(lambda: Embedding.objects.filter(memory_id=saved.memory.id).exists())


def test_the_worker_fills_a_second_model_and_removes_it(worker_with_a_second_model):
    access = make_access()
    for number in range(3):
        save_memory(access, content=f"apples number {number}")
    model = start_backfill(add_model("large"))
    assert eventually(lambda: EmbeddingModel.objects.get(id=model.id).state == ModelState.READY)
    assert Embedding.objects.filter(model=model).count() == 3
    start_dropping(model)
    assert eventually(lambda: not EmbeddingModel.objects.filter(id=model.id).exists())
    assert not Embedding.objects.filter(model_id=model.id).exists()
