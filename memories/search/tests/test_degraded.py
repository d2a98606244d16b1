"""Honest answers while the embedding model is off, down or behind."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.errors import ProviderUnavailable
from memories.models import PendingEmbedding
from memories.search import facts
from memories.search.service import search, similar_statements
from memories.search.tests.doubles import WordVectors, use_embedder
from memories.search.tests.test_query import texts
from memories.services.embeddings import embed_pending
from memories.tests.factories import make_access, remember

pytestmark = pytest.mark.django_db


def test_a_model_that_is_down_degrades_search_to_words(embedder):
    access = make_access()
    remember(access, "the office closes at six")
    embedder.is_down = True
    result = search(access, query="when does the office close")
    assert texts(result) == ["the office closes at six"]
    assert result.legs == ("words",)
    assert result.degraded == ("vector",)


def test_an_engine_that_cannot_be_loaded_is_a_failure_too(embedder, monkeypatch):
    access = make_access()
    remember(access, "the office closes at six")

    def fail():
        raise ProviderUnavailable("no engine", permanent=True)

    monkeypatch.setattr("memories.search.service.searched_embedder", fail)
    assert search(access, query="office").degraded == ("vector",)


def test_embeddings_turned_off_are_no_failure(without_embeddings):
    access = make_access()
    remember(access, "the office closes at six")
    result = search(access, query="office")
    assert texts(result) == ["the office closes at six"]
    assert (result.legs, result.degraded) == (("words",), ())


def test_what_waits_for_its_embedding_is_found_by_words_and_counted(embedder):
    access, other = make_access(), make_access()
    embedder.is_down = True
    remember(access, "apples are red")
    remember(access, "plums are blue")
    remember(other, "apples are red")
    embedder.is_down = False
    result = search(access, query="apples")
    assert texts(result) == ["apples are red"]
    assert result.pending_embeddings == 2
    assert set(result.matches[0].scores) == {"words"}
    PendingEmbedding.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))
    while embed_pending():
        pass  # one space a turn
    result = search(access, query="apples")
    assert result.pending_embeddings == 0
    assert set(result.matches[0].scores) == {"words", "vector"}


def test_a_searched_model_that_is_not_configured_any_more_degrades_search_to_words(embedder, monkeypatch):
    access = make_access()
    remember(access, "apples are red")
    use_embedder(monkeypatch, WordVectors(dimensions=32, slug="test:narrower"))
    result = search(access, query="apples")
    assert set(result.matches[0].scores) == {"words"}
    assert (result.legs, result.degraded) == (("words",), ("vector",))


def test_similar_statements_fall_back_to_words(embedder):
    access = make_access()
    remember(access, "the office closes at six")
    remember(access, "plums are blue")
    assert similar_statements(access.space(None), "the office closes at six", limit=3).spec is embedder.spec
    embedder.is_down = True
    similar = similar_statements(access.space(None), "office closes at seven", limit=3)
    assert similar.spec is None
    assert [(memory.text, similarity) for memory, similarity in similar.matches] == [("the office closes at six", None)]


def test_a_search_that_takes_too_long_is_stopped_with_a_clear_sentence(monkeypatch):
    access = make_access()
    monkeypatch.setattr(facts, "STATEMENT_TIMEOUT_SECONDS", 0.01)
    monkeypatch.setattr(
        "memories.search.service.find_by_keyword", lambda cursor, *args, **named: cursor.execute("SELECT pg_sleep(5)")
    )
    with pytest.raises(ProviderUnavailable, match="stopped after"):
        search(access, keyword="apples")
