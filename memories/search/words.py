"""The words of a question as weighted terms: BM25, with idf and lengths of the space.

A memory's `words` score is the share of the question it holds,

    Σ idf(t) · weight(t) · f / (f + k1 · (1 - b + b · length / average))   /   Σ idf(t) over all words of the question

that is BM25 divided by the most it could be, so it lies between 0 and 1. A word the space does not know counts in the
divisor as the rarest possible one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memories.search.facts import Facts
from memories.search.vocabulary import Expansion

K1 = 1.2
B = 0.75
# Words of a question that count, the rarest first: a pasted page is told from others by fewer than that.
MOST_TERMS = 32
# Postings read to find candidates; the commonest words beyond it only weigh candidates that were found otherwise.
MOST_POSTINGS = 20_000


@dataclass(frozen=True)
class Term:
    """`weight` is the term's part of the question, `is_scanned` whether candidates are looked for by it."""

    term: str
    weight: float
    is_scanned: bool


@dataclass(frozen=True)
class WeightedWords:
    """`saturation` holds k1 · (1 - b) and k1 · b / average length: what BM25 adds to a frequency to divide by."""

    terms: Sequence[Term]
    saturation: tuple[float, float]

    @property
    def is_scanned_fully(self) -> bool:
        return all(term.is_scanned for term in self.terms)


NO_WORDS = WeightedWords(terms=(), saturation=(K1 * (1 - B), 0.0))


def weigh(facts: Facts, expansions: Mapping[str, Sequence[Expansion]]) -> WeightedWords:
    """The terms to look for, the rarest first, with the known ones before those that only stand for unknown ones."""
    counts = facts.memory_counts
    known = sorted((term for term, count in counts.items() if count > 0), key=lambda term: (counts[term], term))
    known = known[:MOST_TERMS]
    unknown = sorted(term for term, count in counts.items() if count <= 0)[: MOST_TERMS - len(known)]
    divisor = sum(_idf(facts, counts[term]) for term in known) + len(unknown) * _idf(facts, 0)
    weights = {term: _idf(facts, counts[term]) / divisor for term in known}
    found_in = {term: counts[term] for term in known}
    for word in unknown:
        for expansion in expansions.get(word, ()):
            weight = expansion.weight * _idf(facts, expansion.memory_count) / divisor
            weights[expansion.term] = weights.get(expansion.term, 0.0) + weight
            found_in[expansion.term] = expansion.memory_count
    terms: list[Term] = []
    postings = 0
    for term in sorted(weights, key=lambda term: (found_in[term], term)):
        postings += found_in[term]
        terms.append(Term(term, weights[term], is_scanned=not terms or postings <= MOST_POSTINGS))
    return WeightedWords(terms=terms, saturation=(K1 * (1 - B), K1 * B / facts.average_length))


def _idf(facts: Facts, memory_count: int) -> float:
    total = max(facts.memory_count, memory_count)
    return math.log1p((total - memory_count + 0.5) / (memory_count + 0.5))
