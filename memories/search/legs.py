"""Candidates by meaning and by words, and their exact scores, in one statement.

Each leg brings its best hundred; both scores are then computed exactly for all of them. There is a function in the
database for each way of comparing vectors and each kind of filter. Those that walk an index are planned with model
and space as constants, which partial indexes need to be recognised.

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
from memories.search.filters import PARAMETERS, Filter, Kind, joined
from memories.search.functions import DatabaseFunction
from memories.search.fusion import WEIGHT_OF_WORDS, Candidate
from memories.search.words import MOST_POSTINGS, WeightedWords
from spaces.access import SpaceAccess

CANDIDATES_PER_LEG = 100
# Chunks read for that many memories: most memories are one chunk.
CHUNKS = 200
# As many characters of a memory as can hold the name of who speaks in it ("Ada: …").
BEGINNING = 80

_VECTOR = """
chunks AS MATERIALIZED (
    SELECT e.memory_id, {distance} AS distance FROM memories_embedding e {narrowed}
    WHERE e.space_id = %(space)s AND e.model_id = %(model)s
    ORDER BY distance LIMIT %(chunks)s
), vector AS MATERIALIZED (
    SELECT memory_id, min(distance) AS distance FROM chunks GROUP BY memory_id ORDER BY 2, 1 LIMIT %(candidates)s
)"""
_EXACT = "e.embedding <=> %(vector)s::halfvec"
_INDEXED = "e.embedding::halfvec(%(dimensions)s) <=> %(vector)s::halfvec(%(dimensions)s)"
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
    ) AS p {{narrowed}}
    WHERE t.is_scanned
    GROUP BY p.memory_id ORDER BY share DESC, p.memory_id LIMIT %(candidates)s
)"""

# Both scores of one memory `m`, computed from all its chunks and all terms of the question. Times are numbers: they are
# compared and never shown, and numbers are read faster.
_ABOUT_M = f"extract(epoch FROM m.created_at)::float8, u.display_name, left(m.text, {BEGINNING}), m.source IS NOT NULL"
SCORES = f"""
    1 - (SELECT min({_EXACT}) FROM memories_embedding e
         WHERE e.space_id = %(space)s AND e.model_id = %(model)s AND e.memory_id = m.id),
    coalesce((SELECT {_SHARE} FROM terms t JOIN memories_memoryterm p
              ON p.space_id = %(space)s AND p.term = t.term AND p.memory_id = m.id), 0), {_ABOUT_M}"""

# Of what `SCORES` is made, and of the columns about a memory.
SCORE_PARAMETERS = {
    "space": "uuid",
    "model": "smallint",
    "vector": "halfvec",
    "terms": "text[]",
    "weights": "float8[]",
    "scanned": "bool[]",
    "saturation": "float8",
    "per_term": "float8",
}
ABOUT_COLUMNS = {"created": "float8", "author": "varchar", "beginning": "text", "has_source": "bool"}

# What one leg found is scored by the other; words also score their own finds when they have not read all terms. `value`
# is that of `fusion.alone`; it decides only which candidates are worth sending, equal ones together.
_CANDIDATES = f"""
WITH {TERMS}, {{vector}}, {_WORDS}, scored AS (
    SELECT memory_id, distance, NULL::float8 AS share FROM vector
    UNION ALL SELECT memory_id, NULL, share FROM words
    UNION ALL SELECT unnest(%(literal)s::uuid[]), NULL, NULL
    UNION ALL
    SELECT e.memory_id, {_EXACT}, NULL FROM memories_embedding e
    WHERE e.space_id = %(space)s AND e.model_id = %(model)s
      AND e.memory_id = ANY(ARRAY(SELECT memory_id FROM words) || %(literal)s::uuid[])
    UNION ALL
    SELECT p.memory_id, NULL, {_SHARE} FROM terms t JOIN memories_memoryterm p
    ON p.space_id = %(space)s AND p.term = t.term AND p.memory_id = ANY(
        ARRAY(SELECT memory_id FROM vector) || %(literal)s::uuid[]
        || ARRAY(SELECT memory_id FROM words WHERE NOT %(all_scanned)s))
    GROUP BY p.memory_id
), found AS (
    SELECT memory_id, min(distance) AS distance, least(coalesce(max(share), 0), 1) AS share,
        min(min(distance)) OVER () AS nearest, max(min(distance)) OVER () AS farthest
    FROM scored GROUP BY memory_id
), best AS MATERIALIZED (
    SELECT *, round(1e9 * (
        CASE WHEN distance IS NULL THEN 0
             WHEN farthest > nearest THEN (farthest - distance) / (farthest - nearest) ELSE 1 END
        + {WEIGHT_OF_WORDS} * greatest(share, (memory_id = ANY(%(literal)s::uuid[]))::int))) AS value
    FROM found ORDER BY value DESC FETCH FIRST %(keep)s ROWS WITH TIES
)
SELECT m.id::text, 1 - best.distance, best.share, {_ABOUT_M},
    1 - best.farthest, 1 - best.nearest, (SELECT count(*) FROM vector), (SELECT count(*) FROM chunks)
FROM best JOIN memories_memory m ON m.id = best.memory_id AND m.space_id = %(space)s AND m.is_active
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
    filter: Filter
    meaning: Meaning | None
    words: WeightedWords

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Of every statement built from `SCORES`."""
        saturation, per_term = self.words.saturation
        return {
            "space": self.space.id,
            "model": self.meaning.model_id if self.meaning else None,
            "vector": self.meaning.text if self.meaning else None,
            "dimensions": len(self.meaning.vector) if self.meaning else None,
            "terms": [term.term for term in self.words.terms],
            "weights": [term.weight for term in self.words.terms],
            "scanned": [term.is_scanned for term in self.words.terms],
            "all_scanned": self.words.is_scanned_fully,
            "saturation": saturation,
            "per_term": per_term,
        } | self.filter.parameters


@dataclass(frozen=True)
class Candidates:
    """The best by themselves, unordered, and the lowest and highest cosine of all that were found (None without)."""

    best: list[Candidate]
    extremes: tuple[float, float] | None


def find_candidates(
    cursor: CursorWrapper, question: Question, *, literal: Collection[str], at_least: int, keep: int
) -> Candidates:
    """The best of each leg and the memories in `literal`, with both scores; the `keep` best of them by both together.

    One query. A second one compares every vector of the space, when the index gave out early or a few long memories
    took all the places, and fewer than `at_least` memories were found by meaning.
    """
    candidates, found, chunks = _run(cursor, question, literal, keep, chunks=CHUNKS)
    meaning = question.meaning
    if meaning is not None and found < at_least and (meaning.uses_index or chunks >= CHUNKS):
        compared = replace(question, meaning=replace(meaning, uses_index=False))
        candidates, _, _ = _run(cursor, compared, literal, keep, chunks=None)
    return candidates


def candidate_of(row: Sequence[Any]) -> Candidate:
    """A candidate from the columns `m.id::text` and `SCORES`."""
    identifier, cosine, words, created, author, beginning, has_source = row
    return Candidate(
        id=identifier,
        cosine=cosine,
        words=min(words, 1.0),
        literal=0.0,
        created=created,
        author=author or "",
        beginning=beginning,
        has_source=has_source,
    )


def candidates_function(question: Question) -> DatabaseFunction:
    """The function of the database that `find_candidates` calls for such a question."""
    way = "words" if question.meaning is None else "indexed" if question.meaning.uses_index else "exact"
    return CANDIDATES[way, question.filter.kind]


def uuid_array(identifiers: Collection[str]) -> str:
    """An array as PostgreSQL reads it: written at once, hundreds of ids take a fraction of the time."""
    return "{" + ",".join(identifiers) + "}"


def candidates_parameters(
    question: Question, literal: Collection[str], keep: int, chunks: int | None = CHUNKS
) -> dict[str, Any]:
    """The parameters of `candidates_function`; without a number of `chunks` every vector is compared."""
    return question.parameters | {
        "candidates": CANDIDATES_PER_LEG,
        "postings": MOST_POSTINGS,
        "literal": uuid_array(literal),
        "keep": keep,
        "chunks": chunks,
    }


def _run(
    cursor: CursorWrapper, question: Question, literal: Collection[str], keep: int, *, chunks: int | None
) -> tuple[Candidates, int, int]:
    """Candidates, how many memories the vector leg found, and how many chunks it has read."""
    rows = candidates_function(question).call(cursor, candidates_parameters(question, literal, keep, chunks))
    if not rows:
        return Candidates([], None), 0, 0
    *_, lowest, highest, found, read = rows[0]
    best = [candidate_of(row[:-4]) for row in rows]
    if literal:
        best = [replace(candidate, literal=float(candidate.id in literal)) for candidate in best]
    return Candidates(best, None if lowest is None else (lowest, highest)), found, read


def _define(way: str, distance: str | None, kind: Kind) -> DatabaseFunction:
    vector = _VECTOR.format(distance=distance, narrowed=joined(kind, "e")) if distance is not None else _NO_VECTOR
    return DatabaseFunction(
        name="_".join(part for part in ("candidates", way, kind) if part),
        parameters=SCORE_PARAMETERS
        | PARAMETERS
        | {
            "all_scanned": "bool",
            "candidates": "int",
            "postings": "int",
            "literal": "uuid[]",
            "keep": "int",
            "chunks": "int",
            "dimensions": "int",
        },
        columns={"id": "text", "cosine": "float8", "words": "float8"}
        | ABOUT_COLUMNS
        | {"lowest": "float8", "highest": "float8", "found": "bigint", "chunks": "bigint"},
        statement=_CANDIDATES.format(vector=vector, narrowed=joined(kind, "p")),
        width="dimensions" if distance == _INDEXED else None,
        # Words of very different frequency, and filters that leave very different numbers, are not served by one plan.
        is_planned_each_time=kind is not Kind.NONE,
    )


CANDIDATES = {
    (way, kind): _define(way, distance, kind)
    for way, distance in (("words", None), ("exact", _EXACT), ("indexed", _INDEXED))
    for kind in Kind
}
