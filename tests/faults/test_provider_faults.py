"""Providers that fail while a text is saved: what the caller sees, and what is stored."""

from collections import Counter

import pytest

from documents.models import Document, PendingDocument
from memories.models import Memory, PendingEmbedding
from memories.providers import connection
from memories.services.claims import retry
from memories.services.pipeline import process_next
from memories.services.save import save_memory
from memories.tests.factories import make_access
from memories.wire import WireWriteResult
from tests.faults.table import expect_row
from tests.providers.fixtures import chat_server, embedding_server, remote_embeddings, work_here

__all__ = ["chat_server", "embedding_server", "remote_embeddings", "work_here"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("work_here", "remote_embeddings", "impatient"),
]

TEXT = "Clara lives in Porto. The office closes at six."


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.0)


def seen(saved):
    """What the caller is told, in one cell."""
    told = WireWriteResult.of_save(saved).dump()
    stages = told["stages"]
    parts = [f"`{told['status']}`", f"extracted `{stages['extracted']}`, embedded `{stages['embedded']}`"]
    if saved.reason:
        parts.append(f"“{saved.reason}”")
    return "; ".join(parts)


def stored(text=TEXT):
    """What is in the space, in one cell; every text is there once."""
    assert Document.objects.filter(raw_content=text).count() == 1
    texts = Counter(Memory.objects.filter(is_active=True).values_list("text", flat=True))
    assert max(texts.values()) == 1
    what = "the text as one memory" if list(texts) == [text] else f"{len(texts)} facts"
    row = PendingDocument.objects.first()
    later = "" if row is None else "; waits for a retry in the admin" if row.failed_at else "; split again later"
    owed = "; embeddings are owed" if PendingEmbedding.objects.exists() else ""
    return f"the document, {what}{later}{owed}"


FAULTS = [
    ("extractor refuses the key (401)", "401", True),
    ("extractor does not know the model (404)", "404", True),
    ("extractor refuses the request (400)", "400", True),
    ("extractor is busy (429)", "429", False),
    ("extractor fails (500)", "500", False),
    ("extractor drops the connection", "dropped", False),
    ("a web page where the extractor should be", "web page", True),
    ("extractor refuses the text", "refusal", True),
    ("extractor filters the text", "filtered", True),
    ("extractor breaks off its answer", "cut off", True),
    ("extractor answers invalid JSON", "invalid JSON", False),
    ("extractor answers prose", "prose", False),
    ("extractor answers nothing", "empty", False),
    ("extractor finds no fact", "no facts", None),
]


@pytest.mark.parametrize(("fault", "mode", "is_permanent"), FAULTS, ids=[mode for _, mode, _ in FAULTS])
def test_an_extractor_that_fails_loses_no_word(chat_server, fault, mode, is_permanent):
    chat_server.modes["/chat/completions"] = mode
    saved = save_memory(make_access(), content=TEXT)
    expect_row(fault, seen(saved), stored())
    rows = PendingDocument.objects.all()
    assert rows.filter(failed_at__isnull=False).exists() == (is_permanent is True)
    assert rows.filter(failed_at__isnull=True).exists() == (is_permanent is False)


def test_an_extractor_that_invents_ids_is_not_believed(chat_server):
    chat_server.modes["/chat/completions"] = "unknown ids"
    saved = save_memory(make_access(), content=TEXT)
    expect_row("extractor names ids from nowhere", seen(saved), stored())


@pytest.mark.parametrize(
    ("fault", "mode"),
    [
        ("embeddings: key refused (401)", "401"),
        ("embeddings: provider fails (500)", "500"),
        ("embeddings: wrong width", "wrong width"),
        ("embeddings: empty list", "empty list"),
    ],
)
def test_an_embedding_provider_that_fails_delays_the_search_by_meaning_only(
    chat_server, remote_embeddings, fault, mode
):
    access = make_access()
    save_memory(access, content="The width of the vectors is known from here on.")
    Document.objects.all().delete()
    Memory.objects.all().delete()
    remote_embeddings.modes["/embeddings"] = mode
    saved = save_memory(access, content=TEXT)
    expect_row(fault, seen(saved), stored())


def test_a_text_that_could_not_be_split_gives_way_to_its_facts_when_a_later_try_works(chat_server):
    chat_server.modes["/chat/completions"] = "invalid JSON"
    access = make_access()
    whole = save_memory(access, content=TEXT).memory
    chat_server.modes.clear()
    assert not process_next()
    retry(PendingDocument.objects.all())
    assert process_next()
    whole.refresh_from_db()
    assert not whole.is_active
    facts = Memory.objects.filter(is_active=True).order_by("created_at")
    assert [memory.text for memory in facts] == ["Clara lives in Porto.", "The office closes at six."]
    assert whole.superseded_by_id == facts[0].id
    document = Document.objects.get()
    assert (document.extraction, document.reason) == ("Done", "")
    assert not PendingDocument.objects.exists()


def test_a_text_that_was_forgotten_meanwhile_is_not_brought_back_by_a_later_try(chat_server):
    chat_server.modes["/chat/completions"] = "invalid JSON"
    access = make_access()
    whole = save_memory(access, content=TEXT).memory
    from memories.services.forget import forget_by_id

    forget_by_id(access, whole.id)
    chat_server.modes.clear()
    retry(PendingDocument.objects.all())
    assert process_next()
    assert not Memory.objects.filter(is_active=True).exists()
    assert not PendingDocument.objects.exists()


def test_tries_are_bounded(chat_server):
    chat_server.modes["/chat/completions"] = "invalid JSON"
    save_memory(make_access(), content=TEXT)
    for _ in range(10):
        PendingDocument.objects.filter(failed_at__isnull=True).update(next_attempt_at="2020-01-01T00:00:00Z")
        process_next()
    row = PendingDocument.objects.get()
    assert row.failed_at is not None
    assert row.attempts == 5
    assert Memory.objects.filter(is_active=True).count() == 1
