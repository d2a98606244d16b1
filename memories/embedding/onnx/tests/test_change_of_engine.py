"""Engines and models in ONNX beside those that embedded before."""

import pytest

from core.errors import Conflict
from memories.embedding.onnx.tests.small import write_small_model
from memories.models import EmbeddingModel, ModelState
from memories.search.service import search
from memories.services.backfill import tend
from memories.services.embedding_models import add_model, list_models, start_backfill, switch_to
from memories.services.searched_model import searched_problem
from memories.tests.factories import make_access, remember

pytestmark = pytest.mark.django_db


def test_the_faster_engine_takes_over_without_embedding_anything_anew(home, settings):
    access = make_access()
    remember(access, "The office closes at six.")
    settings.MEMORY_HOME = home
    settings.EMBEDDINGS_PROVIDER = "onnx"
    remember(access, "Plums are blue.")
    result = search(access, query="When do they shut?")
    assert result.matches[0].memory.text == "The office closes at six."
    assert all("vector" in match.scores for match in result.matches)
    assert (result.degraded, result.pending_embeddings) == ((), 0)
    assert [model.slug for model in list_models()] == ["local:multilingual-e5-small"]
    assert searched_problem() is None


def test_adding_an_engine_of_the_same_model_says_that_nothing_is_to_be_done(home, settings):
    remember(make_access(), "The office closes at six.")
    settings.MEMORY_HOME = home
    settings.EMBEDDINGS_FURTHER = {"fast": {"provider": "onnx"}}
    with pytest.raises(Conflict, match="“fast” describes local:multilingual-e5-small, which is there already"):
        add_model("fast")


def test_a_model_of_ones_own_is_changed_to(remote_embeddings, settings, tmp_path):
    access = make_access()
    remember(access, "apples are red")
    remember(access, "plums are blue")
    settings.EMBEDDINGS_FURTHER = {"own": {"provider": "onnx", "model": str(write_small_model(tmp_path / "own"))}}
    model = start_backfill(add_model("own"))
    tend(model.id)
    switch_to(EmbeddingModel.objects.get(id=model.id))
    result = search(access, query="red apples")
    assert result.matches[0].memory.text == "apples are red"
    assert "vector" in result.matches[0].scores
    write_small_model(tmp_path / "own", seed="another")
    result = search(access, query="red apples")
    assert (result.legs, result.degraded) == (("words",), ("vector",))
    assert "not configured any more" in searched_problem()
    assert EmbeddingModel.objects.get(id=model.id).state == ModelState.SEARCHED
