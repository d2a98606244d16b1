"""What does it cost that a save is durable first?

A save against its embedding alone; a save through the worker against one that this process works off; a queue of owed
embeddings against embedding the same texts; and searches while that queue drains.

    bin/run python -m benchmarks.pipeline
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import mock

from django.test import override_settings

from benchmarks.common import ROOT, Caller, milliseconds, scratch_database, server, verdict
from benchmarks.data import demo_key
from benchmarks.texts import sentences
from tests.providers.server import OpenAICompatibleServer

if TYPE_CHECKING:  # models can only be imported once the scratch database is there
    from spaces.access import AccessContext

SAVES = 60
WAITS = 40
QUEUED = int(os.environ.get("QUEUED", "1000"))
SEARCH_SECONDS = 10


@contextmanager
def worker() -> Iterator[None]:
    """One worker, as `bin/up` starts it, until the block ends."""
    command = [sys.executable, "-m", "celery", "-A", "memory_site", "worker", "--concurrency", "1", "-l", "ERROR"]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ.copy()) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def a_save_and_its_embedding(access: "AccessContext") -> bool:
    from memories.services.save import save_memory
    from memories.services.searched_model import active_model

    model = active_model()
    assert model is not None
    alone, saved = [], []
    # In turns, so that both meet the same load of the machine.
    for text in sentences(SAVES, seed=1):
        alone.append(milliseconds(model.embedder.embed_passages, [text]))
        saved.append(milliseconds(save_memory, access, content=text))
    embedding, save = statistics.median(alone), statistics.median(saved)
    print(f"embedding {embedding:.1f} ms, save {save:.1f} ms (medians of {SAVES})")
    return verdict("a save over its embedding", save / embedding, 1.5)


def through_the_worker(access: "AccessContext") -> bool:
    from memories.services.save import save_memory

    here: list[float] = []
    there: list[float] = []
    with _instant_providers(), worker():
        save_memory(access, content="The worker is there.", wait=60)
        for number, text in enumerate(sentences(2 * WAITS, seed=2)):
            if number % 2:
                there.append(milliseconds(save_memory, access, content=text, wait=60))
                continue
            with mock.patch("memories.services.handover.request_processing", return_value=False):
                here.append(milliseconds(save_memory, access, content=text, wait=60))
    inline, waited = statistics.median(here), statistics.median(there)
    print(f"inline {inline:.1f} ms, through the worker {waited:.1f} ms (medians of {WAITS})")
    return verdict("milliseconds that waiting for the worker adds", waited - inline, 30)


def a_queue_drains(access: "AccessContext") -> bool:
    from memories.models import PendingEmbedding
    from memories.services.embeddings import embed_pending
    from memories.services.searched_model import active_model
    from spaces.isolation import every_space

    model = active_model()
    assert model is not None
    texts = _owe(access, QUEUED)
    began = time.perf_counter()
    for start in range(0, len(texts), 16):
        model.embedder.embed_passages(texts[start : start + 16])
    alone = len(texts) / (time.perf_counter() - began)
    began, settled = time.perf_counter(), 0
    while number := embed_pending():
        settled += number
    drained = settled / (time.perf_counter() - began)
    with every_space():
        assert not PendingEmbedding.objects.exists()
    print(f"{settled} owed embeddings: {drained:.1f} a second, the embedder alone {alone:.1f} a second")
    return verdict("drain over the embedder alone", drained / alone, 0.9, at_most=False)


def searches_while_it_drains(key: str, access: "AccessContext") -> bool:
    from memories.tasks import embed_owed

    with server() as running:
        _searches_a_second(running.caller(key), 2)
        idle = _searches_a_second(running.caller(key), SEARCH_SECONDS)
        _owe(access, QUEUED)
        with worker():
            embed_owed.delay()
            # A connection that waited for the texts would have been closed.
            _searches_a_second(running.caller(key), 3)
            busy = _searches_a_second(running.caller(key), SEARCH_SECONDS)
    print(f"searches a second: {idle:.1f} idle, {busy:.1f} while a queue drains")
    return verdict("searches while the queue drains over idle", busy / idle, 0.8, at_most=False)


def _owe(access: "AccessContext", number: int) -> list[str]:
    """Save that many texts while their embeddings are only noted; returns the texts."""
    from documents.models import Stage
    from memories.services import save

    texts = sentences(number, seed=time.monotonic_ns() % 10_000)
    with mock.patch.object(save, "embed_now_or_later", return_value=Stage.PENDING):
        for text in texts:
            save.save_memory(access, content=text)
    return texts


def _searches_a_second(caller: Caller, seconds: float) -> float:
    deadline, number = time.perf_counter() + seconds, 0
    while time.perf_counter() < deadline:
        # Another question each time: a known one would not be embedded again.
        caller.call("search_memory", query=f"What is known about number {number} of {time.monotonic_ns()}?")
        number += 1
    return number / seconds


@contextmanager
def _instant_providers() -> Iterator[None]:
    """An extractor and an embedding model that answer at once, so that only the way there and back is measured."""
    with OpenAICompatibleServer() as provider:
        values = {"PROVIDER": "openai", "ENDPOINT": provider.url, "MODEL": "instant", "API_KEY": "none"}
        named = {f"{prefix}_{name}": value for prefix in ("EXTRACTION", "EMBEDDINGS") for name, value in values.items()}
        with override_settings(**named), mock.patch.dict(os.environ, named):
            yield


def main() -> bool:
    key, access = demo_key()
    held = [
        a_save_and_its_embedding(access),
        through_the_worker(access),
        a_queue_drains(access),
        searches_while_it_drains(key, access),
    ]
    return all(held)


if __name__ == "__main__":
    with scratch_database():
        passed = main()
    sys.exit(0 if passed else 1)
