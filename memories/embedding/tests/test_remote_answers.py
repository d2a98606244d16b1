"""Remote providers: what is sent, and what becomes of the answers."""

import numpy as np
import pytest

from core.errors import Invalid, ProviderUnavailable
from memories.embedding.base import MAXIMUM_PASSAGE
from memories.embedding.endpoint import Endpoint
from memories.embedding.openai_compatible import BATCH, RemoteEmbedder
from memories.embedding.registry import find_spec
from tests.providers.fixtures import configured_embedder


def embedder_of(server, *, model="test-model", dimensions=None, api_key="sk-secret-key", provider="openai"):
    endpoint = Endpoint(provider=provider, base_url=server.url, api_key=api_key, model=model)
    return RemoteEmbedder(endpoint, dimensions=dimensions)


def test_vectors_are_the_providers_at_unit_length(remote_embeddings):
    embedder = configured_embedder()
    expected = np.array(remote_embeddings.vector("Ada likes tea"))
    assert embedder.embed_query("Ada likes tea") == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert embedder.embed_query("Ada likes tea").dtype == np.float32


def test_the_width_of_an_unknown_model_is_asked_for_once(remote_embeddings):
    embedder = configured_embedder()
    assert embedder.spec.dimensions == 8
    assert embedder.spec.slug == "openai:test-model@8"
    assert configured_embedder() is embedder
    assert len(remote_embeddings.requests) == 1


def test_vectors_are_matched_to_texts_by_index(embedding_server):
    embedder = embedder_of(embedding_server)
    in_order = embedder.embed_passages(["tea", "coffee", "water"])
    embedding_server.mode = "shuffled"
    assert np.array_equal(embedder.embed_passages(["tea", "coffee", "water"]), in_order)


def test_many_passages_are_sent_in_batches(embedding_server):
    embedder = embedder_of(embedding_server, dimensions=8)
    vectors = embedder.embed_passages([f"passage {number}" for number in range(2 * BATCH + 1)])
    assert len(vectors) == 2 * BATCH + 1
    assert [len(request.body["input"]) for request in embedding_server.requests] == [BATCH, BATCH, 1]


def test_no_passages_need_no_request(embedding_server):
    assert embedder_of(embedding_server, dimensions=8).embed_passages([]) == []
    assert embedding_server.requests == []


def test_prefixes_are_those_of_the_model(embedding_server):
    embedding_server.dimensions = 768
    embedder = embedder_of(embedding_server, model="nomic-embed-text:latest")
    embedder.embed_query("tea")
    embedder.embed_passages(["tea"])
    assert [request.body["input"] for request in embedding_server.requests] == [
        ["search_query: tea"],
        ["search_document: tea"],
    ]


@pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
def test_empty_text_is_refused(embedding_server, text):
    embedder = embedder_of(embedding_server, dimensions=8)
    with pytest.raises(Invalid):
        embedder.embed_query(text)
    with pytest.raises(Invalid):
        embedder.embed_passages(["tea", text])
    assert embedding_server.requests == []


def test_a_passage_that_should_have_been_split_is_refused(embedding_server):
    with pytest.raises(Invalid, match="20,000"):
        embedder_of(embedding_server, dimensions=8).embed_passages(["a" * (MAXIMUM_PASSAGE + 1)])


def test_a_known_model_is_asked_for_a_smaller_width(embedding_server):
    embedder = embedder_of(embedding_server, model="text-embedding-3-small", dimensions=256)
    assert embedder.embed_query("tea").shape == (256,)
    assert [request.body["dimensions"] for request in embedding_server.requests] == [256]


def test_no_width_is_sent_where_none_was_configured(embedding_server):
    embedding_server.dimensions = 1536
    embedder_of(embedding_server, model="text-embedding-3-small").embed_query("tea")
    assert "dimensions" not in embedding_server.requests[0].body


def test_an_unknown_model_of_the_configured_width_is_not_asked_for_it(embedding_server):
    embedding_server.is_reducible = False
    embedder = embedder_of(embedding_server, dimensions=8)
    assert embedder.embed_query("tea").shape == (8,)
    assert len(embedding_server.requests) == 1


def test_an_unknown_model_of_another_width_is_asked_for_the_configured_one(embedding_server):
    embedder = embedder_of(embedding_server, dimensions=4)
    assert embedder.embed_query("tea").shape == (4,)
    assert embedder.embed_query("coffee").shape == (4,)
    assert [request.body.get("dimensions") for request in embedding_server.requests] == [None, 4, 4]


def test_a_model_too_wide_to_be_stored_is_refused(embedding_server):
    embedding_server.dimensions = 4096
    with pytest.raises(ProviderUnavailable, match="EMBEDDINGS_DIMENSIONS") as caught:
        embedder_of(embedding_server)
    assert caught.value.permanent


def test_the_same_model_at_another_width_is_another_model():
    specs = [find_spec("openai", "text-embedding-3-small", width) for width in (None, 512, 1536)]
    assert {spec and spec.slug for spec in specs} == {
        "openai:text-embedding-3-small@1536",
        "openai:text-embedding-3-small@512",
    }
