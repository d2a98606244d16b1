"""The real worker with the real broker: a caller waits for its text to be split, and a killed worker loses nothing."""

import signal

import pytest

from documents.models import Document, PendingDocument, Stage, Status
from memories.models import Memory
from memories.services.save import save_memory
from memories.tests.factories import make_access
from tests.providers.fixtures import chat_server, embedding_server, remote_embeddings
from tests.test_worker import running_worker
from tests.waiting import eventually

__all__ = ["chat_server", "embedding_server", "remote_embeddings"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

TEXT = "Clara lives in Porto. The office closes at six."


@pytest.fixture
def variables(remote_embeddings, chat_server, settings):
    """The providers of the test, as a worker's environment names them."""
    return {
        f"{prefix}_{name}": str(getattr(settings, f"{prefix}_{name}"))
        for prefix in ("EMBEDDINGS", "EXTRACTION")
        for name in ("PROVIDER", "ENDPOINT", "API_KEY", "MODEL")
    }


def test_a_caller_waits_for_the_worker_and_gets_the_facts(variables):
    with running_worker(**variables):
        saved = save_memory(make_access(), content=TEXT, wait=60)
    assert (saved.status, saved.extraction, saved.embedding) == (Status.PROCESSED, Stage.DONE, Stage.DONE)
    assert [memory.text for memory in saved.memories] == ["Clara lives in Porto.", "The office closes at six."]


def test_a_caller_that_does_not_wait_learns_that_the_text_is_stored(variables):
    saved = save_memory(make_access(), content=TEXT, wait=0)
    assert (saved.status, saved.memories) == (Status.PENDING, [])
    assert Document.objects.get(id=saved.document_id).raw_content == TEXT


def test_a_worker_killed_while_the_extractor_thinks_loses_and_doubles_nothing(variables, chat_server):
    chat_server.modes["/chat/completions"] = "slow"
    with running_worker(**variables) as process:
        save_memory(make_access(), content=TEXT, wait=0)
        assert eventually(lambda: chat_server.requests)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    chat_server.modes.clear()
    assert Document.objects.get().status == Status.PENDING
    # Its lease is over.
    PendingDocument.objects.update(next_attempt_at="2020-01-01T00:00:00Z")
    from memories.tasks import adopt

    with running_worker(**variables):
        adopt.delay()
        assert eventually(lambda: not PendingDocument.objects.exists())
    assert Document.objects.get().status == Status.PROCESSED
    assert Memory.objects.filter(is_active=True).count() == 2
