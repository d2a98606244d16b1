"""Candidates by meaning and by words, and their exact scores, in one statement.

Each leg brings its best hundred; both scores are then computed exactly for all of them. Model, space and vector stand
in the SQL as literals (Django's client-side binding), which partial indexes need to be recognised.

The plan held by the tests: a space without an index to walk reads its own rows of one partition through the primary
key; one with it walks its partial HNSW index, whose expression carries the width that the plain column lacks.
"""

# ruff: noqa: S608 - statements are put together from constants of this package; values are always parameters

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.db.backends.utils import CursorWrapper

from memories.embedding.base import Vector
from memories.search.fusion import Candidate
from memories.search.words import MOST_POSTINGS, WeightedWords
from spaces.access import SpaceAccess

CANDIDATES_PER_LEG = 100
# Chunks read for that many memories: most memories are one chunk.
CHUNKS = 200
# As many characters of a memory as can hold the name of who speaks in it ("Ada: …").
BEGINNING = 80

_IN_CATEGORY = """JOIN memories_memory c ON c.id = {alias}.memory_id AND c.space_id = %(space)s AND c.is_active
        AND c.category = %(category)s"""
_VECTOR = """
chunks AS MATERIALIZED (
    SELECT e.memory_id, {distance} AS distance FROM memories_embedding e {category}
    WHERE e.space_id = %(space)s AND e.model_id = %(model)s
    ORDER BY distance {limit}
), vector AS MATERIALIZED (
    SELECT memory_id, min(distance) AS distance FROM chunks GROUP BY memory_id ORDER BY 2, 1 LIMIT %(candidates)s
)"""
_EXACT = "e.embedding <=> %(vector)s::halfvec"
_INDEXED = "e.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
_NO_VECTOR = "chunks AS (SELECT), vector AS (SELECT NULL::uuid AS memory_id, NULL::float8 AS distance WHERE false)"

_SHARE = "sum(t.weight * p.frequency / (p.frequency + %(saturation)s::float8 + %(per_term)s::float8 * p.length))"
TERMS = """
terms AS MATERIALIZED (
    SELECT * FROM unnest(%(terms)s::text[], %(weights)s::float8[], %(scanned)s::bool[]) AS t(term, weight, is_scanned)
)"""
_WORDS = f"""
words AS MATERIALIZED (
    SELECT p.memory_id, {_SHARE} AS share
    FROM terms t CROSS JOIN LATERAL (
        SELECT memory_id, frequency, length FROM memories_memoryterm
        WHERE space_id = %(space)s AND term = t.term LIMIT %(postings)s
    ) AS p {{category}}
    WHERE t.is_scanned
    GROUP BY p.memory_id ORDER BY share DESC, p.memory_id LIMIT %(candidates)s
)"""

# Both scores of one memory `m`, computed from all its chunks and all terms of the question. Times are numbers: they are
# compared and never shown, and numbers are read faster.
_ABOUT_M = f"extract(epoch FROM m.created_at)::float8, u.display_name, left(m.text, {BEGINNING})"
SCORES = f"""
    1 - (SELECT min({_EXACT}) FROM memories_embedding e
         WHERE e.space_id = %(space)s AND e.model_id = %(model)s AND e.memory_id = m.id),
    coalesce((SELECT {_SHARE} FROM terms t JOIN memories_memoryterm p
              ON p.space_id = %(space)s AND p.term = t.term AND p.memory_id = m.id), 0), {_ABOUT_M}"""

# What one leg found is scored by the other; words also score their own finds when they have not read all terms.
_CANDIDATES = f"""
WITH {TERMS}, {{vector}}, {_WORDS}, scored AS (
    SELECT memory_id, distance, NULL::float8 AS share, true AS by_vector FROM vector
    UNION ALL SELECT memory_id, NULL, share, false FROM words
    UNION ALL SELECT unnest(%(literal)s::uuid[]), NULL, NULL, false
    UNION ALL
    SELECT e.memory_id, {_EXACT}, NULL, false FROM memories_embedding e
    WHERE e.space_id = %(space)s AND e.model_id = %(model)s
      AND e.memory_id = ANY(ARRAY(SELECT memory_id FROM words) || %(literal)s::uuid[])
    UNION ALL
    SELECT p.memory_id, NULL, {_SHARE}, false FROM terms t JOIN memories_memoryterm p
    ON p.space_id = %(space)s AND p.term = t.term AND p.memory_id = ANY(
        ARRAY(SELECT memory_id FROM vector) || %(literal)s::uuid[]
        || ARRAY(SELECT memory_id FROM words WHERE NOT %(all_scanned)s))
    GROUP BY p.memory_id
), found AS MATERIALIZED (
    SELECT memory_id, min(distance) AS distance, max(share) AS share, bool_or(by_vector) AS by_vector
    FROM scored GROUP BY memory_id
)
SELECT m.id::text, 1 - found.distance, coalesce(found.share, 0), {_ABOUT_M},
    found.by_vector, (SELECT count(*) FROM chunks)
FROM found JOIN memories_memory m ON m.id = found.memory_id AND m.space_id = %(space)s AND m.is_active
LEFT JOIN accounts_user u ON u.id = m.created_by_id
"""


@dataclass(frozen=True)
class Meaning:
    """A vector to search by, the model it is of, and whether the space's HNSW index of that model is walked."""

    vector: Vector
    model_id: int
    uses_index: bool

    @cached_property
    def text(self) -> str:
        """The vector as PostgreSQL reads it."""
        # Five digits are more than a half-precision number holds.
        return "[" + ",".join([format(number, ".5g") for number in self.vector.tolist()]) + "]"


@dataclass(frozen=True)
class Question:
    """What is looked for where. `meaning` is None when no vector can be had or compared."""

    space: SpaceAccess
    category: str | None
    meaning: Meaning | None
    words: WeightedWords

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Of every statement built from `SCORES`."""
        saturation, per_term = self.words.saturation
        return {
            "space": self.space.id,
            "category": self.category,
            "model": self.meaning.model_id if self.meaning else None,
            "vector": self.meaning.text if self.meaning else None,
            "terms": [term.term for term in self.words.terms],
            "weights": [term.weight for term in self.words.terms],
            "scanned": [term.is_scanned for term in self.words.terms],
            "all_scanned": self.words.is_scanned_fully,
            "saturation": saturation,
            "per_term": per_term,
        }


def find_candidates(
    cursor: CursorWrapper, question: Question, *, literal: Collection[str], at_least: int
) -> list[Candidate]:
    """The best of each leg and the memories in `literal`, unordered, with both scores.

    One query. A second one compares every vector of the space, when the index gave out early or a few long memories
    took all the places, and fewer than `at_least` memories were found by meaning.
    """
    candidates, found, chunks = _run(cursor, question, literal, limit=f"LIMIT {CHUNKS}")
    meaning = question.meaning
    if meaning is not None and found < at_least and (meaning.uses_index or chunks >= CHUNKS):
        compared = replace(question, meaning=replace(meaning, uses_index=False))
        candidates, _, _ = _run(cursor, compared, literal, limit="")
    return [replace(candidate, literal=1.0) if candidate.id in literal else candidate for candidate in candidates]


def candidate_of(row: Sequence[Any]) -> Candidate:
    """A candidate from the columns `m.id::text` and `SCORES`."""
    identifier, cosine, words, created, author, beginning = row
    return Candidate(
        id=identifier,
        cosine=cosine,
        words=min(words, 1.0),
        literal=0.0,
        created=created,
        author=author or "",
        beginning=beginning,
    )


def candidates_statement(question: Question, *, limit: str) -> str:
    """The SQL of `find_candidates`, its parameters still named."""
    vector = _NO_VECTOR
    if question.meaning is not None:
        indexed = _INDEXED.format(dimensions=len(question.meaning.vector))
        vector = _VECTOR.format(
            distance=indexed if question.meaning.uses_index else _EXACT,
            category=_in_category("e", question.category),
            limit=limit,
        )
    return _CANDIDATES.format(vector=vector, category=_in_category("p", question.category))


def uuid_array(identifiers: Collection[str]) -> str:
    """An array as PostgreSQL reads it: written at once, hundreds of ids take a fraction of the time."""
    return "{" + ",".join(identifiers) + "}"


def candidates_parameters(question: Question, literal: Collection[str]) -> dict[str, Any]:
    """The parameters of `candidates_statement`."""
    return question.parameters | {
        "candidates": CANDIDATES_PER_LEG,
        "postings": MOST_POSTINGS,
        "literal": uuid_array(literal),
    }


def _run(
    cursor: CursorWrapper, question: Question, literal: Collection[str], *, limit: str
) -> tuple[list[Candidate], int, int]:
    cursor.execute(candidates_statement(question, limit=limit), candidates_parameters(question, literal))
    rows = cursor.fetchall()
    chunks = rows[0][-1] if rows else 0
    return [candidate_of(row[:-2]) for row in rows], sum(row[-2] for row in rows), chunks


def _in_category(alias: str, category: str | None) -> str:
    return _IN_CATEGORY.format(alias=alias) if category is not None else ""
