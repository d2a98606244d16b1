"""The one place where the rest of the server gets its embedding model.

embedder = get_embedder()                          # None when EMBEDDINGS_PROVIDER is `none`
vector = embed_query_cached(embedder, "Who signs off releases?")
vectors = embedder.embed_passages(split_passages(text, embedder.spec))
"""

import os
import threading
from collections import OrderedDict

from django.conf import settings

from memories.embedding.base import Embedder, Vector
from memories.embedding.passages import split_passages

__all__ = ["embed_query_cached", "get_embedder", "split_passages"]

# At most 512 questions of at most 1,000 characters: with their vectors below 1.5 MB for the local model (384
# numbers), below 9 MB for the widest (3,072 numbers).
_CACHED_QUERIES = 512
_LONGEST_CACHED_QUERY = 1_000

_Configuration = tuple[object, ...]

_embedder_lock = threading.Lock()
_queries_lock = threading.Lock()
_embedder: tuple[_Configuration, Embedder] | None = None
_queries: OrderedDict[tuple[_Configuration, str, str], Vector] = OrderedDict()


def _after_fork() -> None:
    """A lock that was held while the process forked would stay locked in the child, and connections are not shared."""
    global _embedder_lock, _queries_lock, _embedder
    _embedder_lock, _queries_lock, _embedder = threading.Lock(), threading.Lock(), None


os.register_at_fork(after_in_child=_after_fork)


def get_embedder() -> Embedder | None:
    """The configured embedding model, made once per process and again when the settings change.

    Raises `ProviderUnavailable` when the provider has to be asked for the width of its vectors and does not answer;
    the next call tries again.
    """
    global _embedder
    if settings.EMBEDDINGS_PROVIDER == "none":
        return None
    configuration = _configuration()
    with _embedder_lock:
        if _embedder is None or _embedder[0] != configuration:
            _embedder = (configuration, _make_embedder())
        return _embedder[1]


def embed_query_cached(embedder: Embedder, text: str) -> Vector:
    """`embedder.embed_query(text)`, remembered for the last few hundred questions of this process."""
    key = (_configuration(), embedder.spec.slug, text)
    with _queries_lock:
        found = _queries.get(key)
        if found is not None:
            _queries.move_to_end(key)
            return found
    vector = embedder.embed_query(text)
    if len(text) <= _LONGEST_CACHED_QUERY:
        with _queries_lock:
            _queries[key] = vector
            while len(_queries) > _CACHED_QUERIES:
                _queries.popitem(last=False)
    return vector


def _configuration() -> _Configuration:
    return (
        settings.EMBEDDINGS_PROVIDER,
        settings.EMBEDDINGS_ENDPOINT,
        settings.EMBEDDINGS_API_KEY,
        settings.EMBEDDINGS_MODEL,
        settings.EMBEDDINGS_DIMENSIONS,
        settings.EMBEDDINGS_THREADS,
    )


def _make_embedder() -> Embedder:
    # Each engine is imported only where it is used: the other one's packages cost a second and tens of megabytes.
    if settings.EMBEDDINGS_PROVIDER == "local":
        from memories.embedding.local import LocalEmbedder

        return LocalEmbedder(threads=settings.EMBEDDINGS_THREADS)
    from memories.embedding.openai_compatible import RemoteEmbedder, connect

    endpoint = connect(
        settings.EMBEDDINGS_PROVIDER,
        settings.EMBEDDINGS_ENDPOINT,
        settings.EMBEDDINGS_API_KEY,
        settings.EMBEDDINGS_MODEL,
    )
    return RemoteEmbedder(endpoint, dimensions=settings.EMBEDDINGS_DIMENSIONS)
