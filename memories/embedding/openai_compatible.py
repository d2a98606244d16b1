"""Embeddings over HTTP: OpenAI, Azure OpenAI, Gemini, and every server that speaks OpenAI's protocol.

    endpoint = connect(Configuration("default", "openai", "http://localhost:11434/v1", model="nomic-embed-text"))
    embedder = RemoteEmbedder(endpoint, dimensions=None)

The client's own environment variables (OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID …) are not used: what is sent,
and where to, is decided by the EMBEDDINGS settings alone.
"""

import functools
import os
from collections.abc import Sequence

from core.errors import ProviderUnavailable
from memories.embedding.base import Vector, check_passages, check_query, unit_vector
from memories.embedding.configurations import Configuration
from memories.embedding.endpoint import PASSAGES, QUERY, Endpoint
from memories.embedding.registry import MAXIMUM_DIMENSIONS, ModelSpec, find_spec, is_reducible
from memories.providers.connection import Patience

# Servers refuse larger batches (text-embeddings-inference: 32, Gemini: 100).
BATCH = 32


@functools.lru_cache(maxsize=16)
def connect(configuration: Configuration) -> Endpoint:
    """The connection to a provider, one per process and configuration; nothing is sent yet."""
    return Endpoint(
        provider=configuration.provider,
        base_url=configuration.endpoint,
        api_key=configuration.api_key,
        model=configuration.model_name,
        prefix=configuration.prefix,
    )


# A connection must not be used by two processes.
os.register_at_fork(after_in_child=connect.cache_clear)


class RemoteEmbedder:
    """A model behind an endpoint.

    For a model that the registry does not know, without `dimensions` and `known_width`, the constructor asks the
    provider once how wide its vectors are, and raises `ProviderUnavailable` when it does not answer. `known_width` is
    never asked for: an answer of another width is another model.
    """

    def __init__(self, endpoint: Endpoint, *, dimensions: int | None, known_width: int | None = None) -> None:
        self._endpoint = endpoint
        # Only some models can be asked for a width, and many servers refuse the parameter. Of a model that the
        # registry does not know it is sent after its own width turned out to be another than the one configured.
        self._asks_for_width = bool(dimensions) and bool(is_reducible(endpoint.model))
        self._may_ask_for_width = bool(dimensions) and is_reducible(endpoint.model) is None
        self.spec: ModelSpec = (
            find_spec(endpoint.provider, endpoint.model, dimensions)
            or find_spec(endpoint.provider, endpoint.model, known_width)
            or self._ask_spec()
        )

    def embed_query(self, text: str) -> Vector:
        """As `Embedder.embed_query`."""
        return self._embed([self.spec.query_prefix + check_query(text)], QUERY)[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """As `Embedder.embed_passages`, in batches of `BATCH`."""
        check_passages(texts)
        inputs = [self.spec.passage_prefix + text for text in texts]
        batches = [inputs[start : start + BATCH] for start in range(0, len(inputs), BATCH)]
        return [vector for batch in batches for vector in self._embed(batch, PASSAGES)]

    def _embed(self, inputs: Sequence[str], patience: Patience) -> list[Vector]:
        asked = self.spec.dimensions if self._asks_for_width else None
        rows = self._endpoint.embed(inputs, dimensions=asked, patience=patience)
        if asked is None and self._may_ask_for_width and len(rows[0]) != self.spec.dimensions:
            rows = self._endpoint.embed(inputs, dimensions=self.spec.dimensions, patience=patience)
            self._asks_for_width = len(rows[0]) == self.spec.dimensions
        try:
            return [unit_vector(row, self.spec) for row in rows]
        except ProviderUnavailable as error:
            named = ProviderUnavailable(self._endpoint.naming(error.message), permanent=error.permanent)
            # Every text would meet the same, and each attempt may cost money.
            self._endpoint.rest_after(named)
            raise named from None

    def _ask_spec(self) -> ModelSpec:
        width = len(self._endpoint.embed(["width"], dimensions=None, patience=QUERY)[0])
        spec = find_spec(self._endpoint.provider, self._endpoint.model, width)
        if spec is None or width > MAXIMUM_DIMENSIONS:
            message = (
                f"The embedding model answers vectors of {width} numbers, and at most {MAXIMUM_DIMENSIONS:,} can be "
                "stored; choose another EMBEDDINGS_MODEL, or ask for fewer numbers with EMBEDDINGS_DIMENSIONS."
            )
            raise ProviderUnavailable(self._endpoint.naming(message), permanent=True)
        return spec
