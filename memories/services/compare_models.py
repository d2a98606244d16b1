"""What two embedding models find for the same questions, side by side, before anybody has to search by the new one.

comparison = compare_models(access, ["Who signs off releases?"], candidate)
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core.errors import Conflict, Invalid
from core.paging import clamp_limit
from memories.embedding.base import Embedder
from memories.models import EmbeddingModel
from memories.search.results import SearchResult
from memories.search.service import search
from memories.services.embedding_models import lacking_memories
from memories.services.searched_model import embedder_of, searched_embedder
from spaces.access import AccessContext

MOST_QUESTIONS = 50


@dataclass(frozen=True)
class Found:
    """What one model led to: the ids and texts of the matches, best first, with the score that ordered them.

    `degraded` tells that the model did not answer, and words alone were searched.
    """

    matches: tuple[tuple[uuid.UUID, str, float], ...]
    degraded: bool


@dataclass(frozen=True)
class ComparedQuestion:
    """One question under both models. `overlap` (0 to 1) is the share of the longer list that is in both."""

    question: str
    searched: Found
    candidate: Found
    overlap: float

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The texts found, rank by rank; "" where one list is shorter."""
        left, right = ([text for _, text, _ in found.matches] for found in (self.searched, self.candidate))
        return list(zip_longest(left, right, fillvalue=""))


@dataclass(frozen=True)
class Comparison:
    """The slugs of the model searched by and of the one it is compared with, and what both found.

    `lacking` memories of the space are not embedded by the second one, which finds them by words only.
    """

    searched: str
    candidate: str
    space_key: str
    lacking: int
    questions: tuple[ComparedQuestion, ...]

    @property
    def overlap(self) -> float:
        """The mean over the questions."""
        return sum(asked.overlap for asked in self.questions) / len(self.questions)


def compare_models(
    access: AccessContext,
    questions: Sequence[str],
    candidate: EmbeddingModel,
    *,
    container_tag: str | None = None,
    limit: int = 10,
) -> Comparison:
    """Search one space for each question by the model in use and by `candidate`; nothing else differs.

    Raises `Invalid` for no or too many questions, `Conflict` when embeddings are off, `ProviderUnavailable` when one of
    the models is not configured, and what a search raises.
    """
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise Invalid(f"To compare takes 1 to {MOST_QUESTIONS} questions, not {len(questions)}.")
    searched, other = searched_embedder(), embedder_of(candidate)
    if searched is None:
        raise Conflict("Embeddings are turned off: there is nothing to compare with.")

    def ask(question: str, embedder: Embedder) -> SearchResult:
        return search(
            access,
            query=question,
            container_tag=container_tag,
            limit=clamp_limit(limit),
            include_profile=False,
            embedder=embedder,
        )

    compared = []
    for question in questions:
        ours, theirs = _found(ask(question, searched)), _found(ask(question, other))
        compared.append(ComparedQuestion(question, ours, theirs, _overlap(ours, theirs)))
    space = access.space(container_tag)
    return Comparison(
        searched.spec.slug, other.spec.slug, space.key, lacking_memories(candidate, space), tuple(compared)
    )


def _found(result: SearchResult) -> Found:
    return Found(
        matches=tuple((match.memory.id, match.memory.text, match.score) for match in result.matches),
        degraded=bool(result.degraded),
    )


def _overlap(ours: Found, theirs: Found) -> float:
    first, second = ({identifier for identifier, _, _ in found.matches} for found in (ours, theirs))
    longest = max(len(first), len(second))
    return len(first & second) / longest if longest else 1.0
