"""What a search answers."""

from dataclasses import dataclass

from memories.embedding.registry import ModelSpec
from memories.models import Memory, RelationType
from spaces.access import SpaceAccess


@dataclass(frozen=True)
class RelatedMemory:
    """A memory that a match is linked to over one or two edges of one direction; it may be a forgotten one.

    `outgoing`: the match acts on it. `relation_type` is that of the last edge walked; `note` only that of a direct one.
    """

    memory: Memory
    relation_type: RelationType
    hops: int
    outgoing: bool
    note: str | None


@dataclass(frozen=True)
class Match:
    """A memory that was found, its author joined.

    `score` (0 to 1) orders the answer. `scores` holds each leg's own value where the leg knows the memory: `vector` is
    the cosine of the best chunk, `words` the share of the question's words that it holds (0 to 1, weighted by rarity),
    `literal` 1.0 for a memory that holds the text itself. `passage` is the part of a long text that meets the question
    best, from where to where; it is looked for only when the answer cannot show all texts.
    """

    memory: Memory
    score: float
    scores: dict[str, float]
    related: tuple[RelatedMemory, ...] = ()
    passage: tuple[int, int] | None = None


@dataclass(frozen=True)
class SearchResult:
    """Matches, best first, and how they came about.

    `profile` is None unless asked for. `legs` are those that ran, `degraded` those that should have run and could not;
    an embedding provider that is turned off is no failure. `pending_embeddings` memories are not found by meaning yet.
    `extremes` are the lowest and highest cosine of all candidates, between which the scores were stretched.
    """

    matches: list[Match]
    profile: list[Memory] | None
    searched_space: SpaceAccess
    legs: tuple[str, ...]
    degraded: tuple[str, ...]
    pending_embeddings: int
    extremes: tuple[float, float] | None = None


@dataclass(frozen=True)
class SimilarStatements:
    """Memories that say much the same as a text, best first, each with the cosine of the two.

    Without an embedding model the cosine and `spec` are None and only words were compared.
    """

    matches: list[tuple[Memory, float | None]]
    spec: ModelSpec | None
