"""The one place where the rest of the server gets its embedding model.

embedder = get_embedder()                          # the default one; None when EMBEDDINGS_PROVIDER is `none`
vector = embed_query_cached(embedder, "Who signs off releases?")
vectors = embedder.embed_passages(split_passages(text, embedder.spec))
"""

import os
import threading
from collections import OrderedDict

from memories.embedding.base import Embedder, Vector
from memories.embedding.configurations import Configuration, default_configuration
from memories.embedding.passages import split_passages

__all__ = ["embed_query_cached", "get_embedder", "split_passages"]

# At most 512 questions of at most 1,000 characters: with their vectors below 1.5 MB for the local model (384
# numbers), below 9 MB for the widest (3,072 numbers).
_CACHED_QUERIES = 512
_LONGEST_CACHED_QUERY = 1_000
# More than anybody configures; settings change within a process only in tests.
_MOST_EMBEDDERS = 16

_embedder_lock = threading.Lock()
_queries_lock = threading.Lock()
_embedders: dict[tuple[Configuration, int | None, str], Embedder] = {}
# Of the process that was forked from: to end an engine whose threads are not there any more could hang.
_left_behind: list[Embedder] = []
_queries: OrderedDict[tuple[Embedder, str], Vector] = OrderedDict()


def _after_fork() -> None:
    """A lock that was held while the process forked would stay locked in the child, and connections are not shared."""
    global _embedder_lock, _queries_lock
    _embedder_lock, _queries_lock = threading.Lock(), threading.Lock()
    _left_behind.extend(_embedders.values())
    _embedders.clear()


os.register_at_fork(after_in_child=_after_fork)


def get_embedder(configuration: Configuration | None = None, known_width: int | None = None) -> Embedder | None:
    """The embedding model of a configuration, the default one without; made once per process.

    `known_width` is that of a model whose vectors were seen before: its provider need not be asked again. Raises
    `ProviderUnavailable` when a provider has to be asked for the width of its vectors and does not answer; the next
    call tries again.
    """
    configuration = configuration or default_configuration()
    if configuration.provider == "none":
        return None
    key = (configuration, known_width, _contents(configuration))
    with _embedder_lock:
        if key not in _embedders:
            while len(_embedders) >= _MOST_EMBEDDERS:
                _embedders.pop(next(iter(_embedders)))
            _embedders[key] = _make_embedder(configuration, known_width)
        return _embedders[key]


def embed_query_cached(embedder: Embedder, text: str) -> Vector:
    """`embedder.embed_query(text)`, remembered for the last few hundred questions of this process."""
    key = (embedder, text)
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


def _make_embedder(configuration: Configuration, known_width: int | None) -> Embedder:
    # Each engine is imported only where it is used: the other one's packages cost a second and tens of megabytes.
    if configuration.provider == "local":
        from memories.embedding.local import LocalEmbedder

        return LocalEmbedder(threads=configuration.threads)
    if configuration.provider == "onnx":
        return _make_onnx_embedder(configuration, known_width)
    from memories.embedding.openai_compatible import RemoteEmbedder, connect

    return RemoteEmbedder(connect(configuration), dimensions=configuration.dimensions, known_width=known_width)


def _contents(configuration: Configuration) -> str:
    """What tells the files of a model apart that replaced one another in the same place."""
    if configuration.directory is None:
        return ""
    from memories.embedding.onnx.engine import directory_spec

    spec = directory_spec(configuration.directory, 1)
    return spec.slug if spec is not None else ""


def _make_onnx_embedder(configuration: Configuration, known_width: int | None) -> Embedder:
    from memories.embedding.onnx.engine import OnnxEmbedder
    from memories.embedding.onnx.export import exported_directory

    return OnnxEmbedder(
        configuration.directory or exported_directory(),
        spec=configuration.spec(known_width),
        own=configuration.directory is not None,
        dimensions=configuration.dimensions,
        threads=configuration.threads,
    )
