"""The configured embedder, a small cache of query vectors, and splitting of long texts."""

import re
import threading
import unicodedata
from collections import OrderedDict

from django.conf import settings

from core.errors import ProviderUnavailable
from memories.embedding.base import Embedder, Vector
from memories.embedding.local import LocalEmbedder
from memories.embedding.registry import ModelSpec

# 1,000 queries of 384 float32 numbers are 1.5 MB; of 3,072 numbers 12 MB.
CACHED_QUERIES = 1_000

_lock = threading.Lock()
_embedders: dict[tuple[object, ...], Embedder] = {}
_queries: "OrderedDict[tuple[str, str], Vector]" = OrderedDict()


def get_embedder() -> Embedder | None:
    """The embedder of the settings, made once; None when EMBEDDINGS_PROVIDER is none.

    Raises `ProviderUnavailable` when it cannot be made; that is tried again at the next call.
    """
    if settings.EMBEDDINGS_PROVIDER == "none":
        return None
    configuration = (
        settings.EMBEDDINGS_PROVIDER,
        settings.EMBEDDINGS_ENDPOINT,
        settings.EMBEDDINGS_API_KEY,
        settings.EMBEDDINGS_MODEL,
        settings.EMBEDDINGS_DIMENSIONS,
        settings.EMBEDDINGS_THREADS,
    )
    with _lock:
        embedder = _embedders.get(configuration)
        if embedder is None:
            embedder = _embedders[configuration] = _make()
        return embedder


def _make() -> Embedder:
    if settings.EMBEDDINGS_PROVIDER == "local":
        return LocalEmbedder(settings.EMBEDDINGS_THREADS)
    raise ProviderUnavailable("not made", permanent=True)


def embed_query_cached(embedder: Embedder, text: str) -> Vector:
    """The vector of a query, from memory when it was asked lately. Raises as `Embedder.embed_query` does."""
    key = (embedder.spec.slug, text)
    with _lock:
        if key in _queries:
            _queries.move_to_end(key)
            return _queries[key]
    vector = embedder.embed_query(text)
    with _lock:
        _queries[key] = vector
        while len(_queries) > CACHED_QUERIES:
            _queries.popitem(last=False)
    return vector


def split_passages(text: str, spec: ModelSpec) -> list[str]:
    """`text` in pieces the model reads whole, each beginning where a sentence, line or word ends."""
    limit = spec.chunk_characters
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = min(start + limit, len(text))
        if end < len(text):
            window = text[start + limit // 2 : end]
            cut = max((m.end() for m in re.finditer(r"\n\n|[.!?。！？]\s|\n|\s", window)), default=0)
            end = start + limit // 2 + cut if cut else end
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
        piece = text[start:end].strip()
        if piece:
            pieces.append(piece)
        start = end
    return pieces
