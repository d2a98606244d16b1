"""One order out of the legs: score fusion, as measured best on conversations (`docs/search.md` has the table).

    f = minmax(cosine) + 2 · words            # each memory by itself
    total = f + ½ · max(f of its neighbours) + 0.15 when the question names its author
    score = total / MAXIMUM                   # 0 to 1

Fusing ranks instead (RRF) loses six points of recall and breaks down when one leg is bad, as words are for a question
in another language.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

WEIGHT_OF_WORDS = 2.0
WEIGHT_OF_NEIGHBOURS = 0.5
WEIGHT_OF_AUTHOR = 0.15
# The most that a memory alone, and then with neighbours and author, can reach.
_MAXIMUM_ALONE = 1.0 + WEIGHT_OF_WORDS
MAXIMUM = _MAXIMUM_ALONE * (1 + WEIGHT_OF_NEIGHBOURS) + WEIGHT_OF_AUTHOR
# Sums of floats depend on their order in the last digits; what is equal up to here is equal, and then age decides.
_DIGITS = 9


@dataclass(frozen=True)
class Candidate:
    """A memory some leg found. `cosine` is None while it has no embedding; `words` and `literal` are 0 to 1.

    `id` is that of the memory as text, which is compared hundreds of times a search; `created` is a time in seconds.
    """

    id: str
    cosine: float | None
    words: float
    literal: float
    created: float
    author: str
    beginning: str
    has_source: bool


def alone(candidates: Collection[Candidate], extremes: tuple[float, float] | None) -> dict[str, float]:
    """f of each candidate; `extremes` are the lowest and highest cosine of all that was found."""
    return {
        candidate.id: stretched(candidate.cosine, extremes)
        + WEIGHT_OF_WORDS * max(min(candidate.words, 1.0), candidate.literal)
        for candidate in candidates
    }


def fuse(
    candidates: Collection[Candidate],
    by_itself: Mapping[str, float],
    neighbours: Mapping[str, Collection[str]],
    named: Collection[str],
) -> list[tuple[Candidate, float]]:
    """Candidates with their score, best first; equal ones by age, newest first, then by id.

    `named` are those whose author the question names.
    """
    totals: dict[str, float] = {}
    for candidate in candidates:
        identifier = candidate.id
        total = by_itself[identifier] + WEIGHT_OF_AUTHOR * (identifier in named)
        beside = neighbours.get(identifier)
        if beside:
            total += WEIGHT_OF_NEIGHBOURS * max(by_itself.get(other, 0.0) for other in beside)
        totals[identifier] = round(total, _DIGITS)
    ordered = sorted(candidates, key=lambda candidate: (-totals[candidate.id], -candidate.created, candidate.id))
    return [(candidate, totals[candidate.id] / MAXIMUM) for candidate in ordered]


def stretched(cosine: float | None, extremes: tuple[float, float] | None) -> float:
    """Where a cosine lies between the lowest and the highest: 0 to 1, and 0 for what has none."""
    if cosine is None or extremes is None:
        return 0.0
    lowest, highest = extremes
    if highest <= lowest:
        return 1.0
    return min(max((cosine - lowest) / (highest - lowest), 0.0), 1.0)
