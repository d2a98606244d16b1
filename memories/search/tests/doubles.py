"""A stand-in for an embedding model, where a test needs vectors whose likeness it can foresee."""

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from django.conf import settings

from core.errors import ProviderUnavailable
from memories.embedding.base import Vector, unit_vector
from memories.embedding.registry import ModelSpec
from memories.services import searched_model
from memories.services.terms import plain_words


class WordVectors:
    """Texts are alike as far as they share words."""

    def __init__(self, dimensions: int = 64, slug: str = "test:words", chunk_characters: int = 200) -> None:
        self.spec = ModelSpec(
            slug=slug,
            dimensions=dimensions,
            query_prefix="",
            passage_prefix="",
            chunk_characters=chunk_characters,
            forget_threshold=0.99,
            confirm_threshold=0.9,
            duplicate_threshold=0.95,
            calibrated="made up",
        )
        self.is_down = False

    def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        if self.is_down:
            raise ProviderUnavailable("The model is taking a break.")
        # A little of everything, so that no text is without direction.
        values = np.full(self.spec.dimensions, 0.01, dtype=np.float32)
        for word in plain_words(text).split():
            seed = zlib.crc32(word.encode())
            values += np.random.default_rng(seed).standard_normal(self.spec.dimensions, dtype=np.float32)
        return unit_vector(values, self.spec)


def use_embedder(monkeypatch: pytest.MonkeyPatch, *embedders: WordVectors | None) -> None:
    """Let saves and searches use the first one, as the settings' default; the others are configured too.

    None turns embeddings off.
    """
    known = {embedder.spec.slug: embedder for embedder in embedders if embedder is not None}
    monkeypatch.setattr(settings, "EMBEDDINGS_PROVIDER", "local" if known else "none")
    monkeypatch.setattr(searched_model, "get_embedder", lambda stand_in=embedders[0], width=None: stand_in)
    monkeypatch.setattr(searched_model, "configurations_of", lambda slug, width: [known[slug]] if slug in known else [])
