"""What is known about each embedding model: width, prefixes, chunk size and what its similarities mean.

    spec = find_spec("openai", "text-embedding-3-small", dimensions=None)
    spec.slug           # "openai:text-embedding-3-small@1536"

Similarities mean something only within one model, so every threshold belongs to the model. How they were measured,
and the table behind them, is in `docs/embeddings.md`; `benchmarks/calibrate_embeddings.py` measures them again.
"""

from dataclasses import dataclass, replace
from typing import Self

# A similarity no pair of vectors reaches: the model alone never decides.
NEVER = 1.01

# The widest vector that pgvector can index as halfvec.
MAXIMUM_DIMENSIONS = 4_000

LOCAL_MODEL = "multilingual-e5-small"


@dataclass(frozen=True)
class ModelSpec:
    """One embedding model at one width.

    `slug` names it in the database. `chunk_characters` is the longest passage, in characters of Latin text; scripts
    that need more tokens per character get fewer. The thresholds are cosine similarities between two *passages*:
    at `forget_threshold` a memory may be forgotten on similarity alone, at `confirm_threshold` when its words were
    compared too, at `update_threshold` when an extractor says that one replaces the other, at `duplicate_threshold` two
    memories are worth showing as near duplicates. `calibrated` says how they were found.
    """

    slug: str
    dimensions: int
    query_prefix: str
    passage_prefix: str
    chunk_characters: int
    forget_threshold: float
    confirm_threshold: float
    duplicate_threshold: float
    calibrated: str
    update_threshold: float = 0.60

    def with_slug(self, slug: str) -> Self:
        """The same model under another name: its vectors are not mixed with those under this one."""
        return replace(self, slug=slug)


@dataclass(frozen=True)
class _Known:
    """A model as published: its own width, whether it can be asked for fewer numbers, and its prefixes."""

    dimensions: int
    reducible: bool = False
    query_prefix: str = ""
    passage_prefix: str = ""
    chunk_characters: int = 2_000
    forget_threshold: float = NEVER
    confirm_threshold: float = 0.60
    update_threshold: float = 0.60
    duplicate_threshold: float = 0.95
    calibrated: str = "not measured: the words decide, the model only has to agree roughly"


_E5_SMALL = _Known(
    384,
    query_prefix="query: ",
    passage_prefix="passage: ",
    chunk_characters=900,
    # Same words asked for differently: from 0.931. Unrelated: up to 0.900. One thing changed: up to 0.999, above
    # most paraphrases, so no similarity alone may forget.
    confirm_threshold=0.90,
    # Statements that replace another in new words: 19 of 20 from 0.851. Unrelated ones: 99 of 100 below 0.838.
    update_threshold=0.85,
    duplicate_threshold=0.96,
    calibrated="benchmarks/calibrate_embeddings.py, 664 labelled pairs (docs/embeddings.md)",
)

# Published names in lower case, without an organisation in front and without a tag behind.
_MODELS = {
    "multilingual-e5-small": _E5_SMALL,
    "multilingual-e5-base": _Known(768, query_prefix="query: ", passage_prefix="passage: ", chunk_characters=900),
    "multilingual-e5-large": _Known(1024, query_prefix="query: ", passage_prefix="passage: ", chunk_characters=900),
    "text-embedding-3-small": _Known(1536, reducible=True),
    "text-embedding-3-large": _Known(3072, reducible=True),
    "text-embedding-ada-002": _Known(1536),
    "gemini-embedding-001": _Known(3072, reducible=True),
    "nomic-embed-text": _Known(768, query_prefix="search_query: ", passage_prefix="search_document: "),
    "mxbai-embed-large": _Known(
        1024, query_prefix="Represent this sentence for searching relevant passages: ", chunk_characters=1_200
    ),
    "nomic-embed-text-v1.5": _Known(768, query_prefix="search_query: ", passage_prefix="search_document: "),
    "bge-m3": _Known(1024),
    "embeddinggemma": _Known(
        768, reducible=True, query_prefix="task: search result | query: ", passage_prefix="title: none | text: "
    ),
    "snowflake-arctic-embed2": _Known(1024, query_prefix="query: "),
    "snowflake-arctic-embed-l-v2.0": _Known(1024, query_prefix="query: "),
    "all-minilm": _Known(384, chunk_characters=700),
    "all-minilm-l6-v2": _Known(384, chunk_characters=700),
}

DEFAULT_MODELS = {
    "local": LOCAL_MODEL,
    "onnx": LOCAL_MODEL,
    "openai": "text-embedding-3-small",
    "gemini": "gemini-embedding-001",
}


def known_dimensions(model: str) -> int | None:
    """The width a known model answers when nothing is asked for; None for a model this registry does not know."""
    known = _MODELS.get(_plain_name(model))
    return known.dimensions if known else None


def is_reducible(model: str) -> bool | None:
    """Whether the model can be asked for fewer numbers; None when the registry does not know it."""
    known = _MODELS.get(_plain_name(model))
    return known.reducible if known else None


def find_spec(provider: str, model: str, dimensions: int | None) -> ModelSpec | None:
    """The spec of `model` at `dimensions`, or at its own width; None when only the provider can tell the width."""
    known = _MODELS.get(_plain_name(model))
    width = dimensions or (known.dimensions if known else None)
    if width is None:
        return None
    known = known or _Known(width)
    return ModelSpec(
        slug=f"{provider}:{model}" if provider == "local" else f"{provider}:{model}@{width}",
        dimensions=width,
        query_prefix=known.query_prefix,
        passage_prefix=known.passage_prefix,
        chunk_characters=known.chunk_characters,
        forget_threshold=known.forget_threshold,
        confirm_threshold=known.confirm_threshold,
        update_threshold=known.update_threshold,
        duplicate_threshold=known.duplicate_threshold,
        calibrated=known.calibrated,
    )


def _plain_name(model: str) -> str:
    """`intfloat/multilingual-e5-small` and `nomic-embed-text:latest` as this registry spells them."""
    return model.rsplit("/", 1)[-1].split(":", 1)[0].lower()
