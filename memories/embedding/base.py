"""What every embedding engine does, and the checks every vector passes.

embedder.embed_query("Who signs off releases?")            # one unit vector
embedder.embed_passages(["Ada signs off releases.", …])    # one unit vector per passage, in order
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import Invalid, ProviderUnavailable
from core.text import is_blank
from memories.embedding.registry import ModelSpec

# Shape (dimensions,), unit length, float32; shared between callers and therefore read-only.
Vector = NDArray[np.float32]

# A longer question is cut: no model here reads further than about this, and a person is waiting.
MAXIMUM_QUERY = 2_000
# Callers split longer texts with `split_passages`; a longer passage is a mistake, and would be minutes of work.
MAXIMUM_PASSAGE = 20_000


class Embedder(Protocol):
    """An embedding model behind one interface. Safe to use from many threads.

    Both methods raise `Invalid` for empty text and `ProviderUnavailable` when the model does not answer;
    its `permanent` tells whether another try can help.
    """

    @property
    def spec(self) -> ModelSpec:
        """The model and its width."""

    def embed_query(self, text: str) -> Vector:
        """The vector of a question; of a long one, the beginning counts."""

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of passages no longer than `MAXIMUM_PASSAGE`, in the order given."""


def check_query(text: str) -> str:
    """`text` cut to what is embedded. Raises `Invalid` when nothing in it can be seen."""
    if is_blank(text):
        raise Invalid("The text to search for must not be empty.")
    return text[:MAXIMUM_QUERY]


def check_passages(texts: Sequence[str]) -> None:
    """Raises `Invalid` for an empty passage, or one that should have been split."""
    for text in texts:
        if is_blank(text):
            raise Invalid("A passage to embed must not be empty.")
        if len(text) > MAXIMUM_PASSAGE:
            raise Invalid(f"A passage to embed has {len(text):,} characters, at most {MAXIMUM_PASSAGE:,} are allowed.")


def unit_vector(values: ArrayLike, spec: ModelSpec) -> Vector:
    """`values` as a unit vector of the model's width.

    Raises `ProviderUnavailable` (permanent) for another width, or for values that have no direction: a stored vector
    is always a real one.
    """
    vector = np.array(values, dtype=np.float32)
    if vector.shape != (spec.dimensions,):
        raise ProviderUnavailable(
            f"The embedding model {spec.slug} answered vectors of {vector.size} numbers where {spec.dimensions} were "
            "expected; correct EMBEDDINGS_DIMENSIONS or EMBEDDINGS_MODEL.",
            permanent=True,
        )
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(length) or length == 0.0:
        raise ProviderUnavailable(
            f"The embedding model {spec.slug} answered a vector without direction (zeros, or no numbers); choose "
            "another EMBEDDINGS_MODEL.",
            permanent=True,
        )
    vector = np.asarray(vector / length, dtype=np.float32)
    vector.flags.writeable = False
    return vector
