"""Questions are embedded once."""

import pytest

from core.errors import ProviderUnavailable
from memories.embedding import service
from memories.embedding.service import embed_query_cached
from tests.providers.fixtures import configured_embedder


def test_a_question_is_embedded_once(remote_embeddings):
    embedder = configured_embedder()
    first = embed_query_cached(embedder, "tea")
    asked = len(remote_embeddings.requests)
    assert embed_query_cached(embedder, "tea") is first
    assert len(remote_embeddings.requests) == asked


def test_another_text_and_another_model_have_vectors_of_their_own(remote_embeddings, settings):
    tea = embed_query_cached(configured_embedder(), "tea")
    assert (embed_query_cached(configured_embedder(), "coffee") != tea).any()
    settings.EMBEDDINGS_MODEL = "text-embedding-3-small"
    settings.EMBEDDINGS_DIMENSIONS = 16
    assert embed_query_cached(configured_embedder(), "tea").shape == (16,)


def test_a_failure_is_not_remembered(remote_embeddings, monkeypatch):
    monkeypatch.setattr("memories.providers.breaker.REST_TEMPORARY", 0.0)
    monkeypatch.setattr("memories.providers.connection.FIRST_PAUSE", 0.0)
    embedder = configured_embedder()
    remote_embeddings.mode = "500"
    with pytest.raises(ProviderUnavailable):
        embed_query_cached(embedder, "coffee")
    remote_embeddings.mode = "ok"
    assert embed_query_cached(embedder, "coffee").shape == (8,)


def test_the_questions_kept_are_few_and_the_latest(remote_embeddings, monkeypatch):
    monkeypatch.setattr(service, "_CACHED_QUERIES", 2)
    embedder = configured_embedder()
    for text in ("one", "two", "one", "three"):
        embed_query_cached(embedder, text)
    assert [key[-1] for key in service._queries] == ["one", "three"]


def test_long_questions_are_not_kept(remote_embeddings):
    service._queries.clear()
    embed_query_cached(configured_embedder(), "tea " * 400)
    assert not service._queries
