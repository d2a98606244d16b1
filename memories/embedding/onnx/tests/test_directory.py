"""An ONNX model of one's own: any directory with model.onnx and tokenizer.json."""

import os

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from core.errors import ProviderUnavailable
from memories.embedding.checks import validate_embedding_settings
from memories.embedding.configurations import configurations_of
from memories.embedding.onnx.engine import OnnxEmbedder
from memories.embedding.onnx.tests.small import write_small_model
from memories.embedding.service import get_embedder


@pytest.fixture
def use(settings, tmp_path):
    def make(name="bge-m3", **options):
        settings.EMBEDDINGS_PROVIDER = "onnx"
        settings.EMBEDDINGS_MODEL = str(write_small_model(tmp_path / name, **options))
        return get_embedder()

    return make


def test_it_is_found_out_how_wide_it_is_and_named_after_its_directory(use, settings):
    embedder = use(width=6)
    assert embedder.spec.dimensions == 6
    assert embedder.spec.slug.startswith("onnx:bge-m3#")
    assert embedder.spec.slug.endswith("@6")
    (configuration,) = configurations_of(embedder.spec.slug, 6)
    assert configuration.model == settings.EMBEDDINGS_MODEL


def test_prefixes_are_those_of_the_model_that_the_directory_is_named_after(use):
    assert use("multilingual-e5-base").spec.query_prefix == "query: "
    assert use("nameless").spec.query_prefix == ""


def test_texts_that_share_words_are_alike(use):
    embedder = use()
    apples, fruit, plums = embedder.embed_passages(["apples are red", "red apples", "plums blue"])
    assert apples @ fruit > apples @ plums
    assert embedder.embed_query("apples are red") @ apples == pytest.approx(1)


def test_vectors_of_tokens_are_pooled(use):
    pooled, tokens = use("pooled"), use("tokens", output="tokens")
    assert pooled.embed_query("apples are red") @ tokens.embed_query("apples are red") == pytest.approx(1, abs=1e-5)
    first = use("first", output="tokens", first_token=True)
    alone = first.embed_query("apples")
    assert first.embed_query("apples are red") @ alone == pytest.approx(1, abs=1e-5)
    assert tokens.embed_query("apples are red") @ alone < 0.99


def test_another_model_in_the_same_place_is_another_model(use, tmp_path):
    before = use().spec
    after = use(seed="another").spec
    assert before.slug != after.slug
    assert not list(configurations_of(before.slug, before.dimensions))


def test_a_model_that_changes_under_a_running_process_is_not_taken_for_the_old_one(use, settings, tmp_path):
    slug = use().spec.slug
    write_small_model(tmp_path / "bge-m3", width=8)
    assert not list(configurations_of(slug, 6))
    settings.EMBEDDINGS_MODEL = str(tmp_path / "gone")
    assert not list(configurations_of(slug, 6))


def test_a_width_that_it_does_not_have_is_refused(use, settings):
    settings.EMBEDDINGS_DIMENSIONS = 5
    with pytest.raises(ProviderUnavailable, match="6 numbers"):
        use(width=6).embed_query("apples")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_directory_that_lacks_a_file_stops_the_start(use, tmp_path, missing):
    use()
    (tmp_path / "bge-m3" / missing).unlink()
    with pytest.raises(ImproperlyConfigured, match=f"^EMBEDDINGS_MODEL must be a directory .* no {missing}"):
        validate_embedding_settings()


def test_a_file_that_is_no_model_is_told(use, tmp_path):
    use()
    (tmp_path / "bge-m3" / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ProviderUnavailable, match="cannot be loaded") as caught:
        OnnxEmbedder(tmp_path / "bge-m3")
    assert caught.value.permanent


def test_it_works_in_a_forked_process(use):
    embedder = use()
    expected = embedder.embed_query("apples are red")
    child = os.fork()
    if child == 0:
        os._exit(0 if np.allclose(embedder.embed_query("apples are red"), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
