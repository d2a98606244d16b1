"""Memories by a keyword: those that hold it as it is, and those that hold its words in another form or misspelt.

In the order of the answer: the keyword as whole words, as a part of words, its words in other forms or places, its
words misspelt; the newest first within each. A keyword with signs in it ("100%", "snake_case") is meant to the letter,
as long as some memory holds it so. Nothing is ranked by `word_similarity`, which takes seconds on large spaces; every
part of the statement has a bound of its own.
"""

# ruff: noqa: S608 - statements are put together from constants of this package; values are always parameters

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.backends.utils import CursorWrapper

from memories.search.filters import PARAMETERS, Filter, condition
from memories.search.functions import DatabaseFunction
from memories.search.vocabulary import Expansion, escape_like
from spaces.access import SpaceAccess

# The newest memories are read one by one; when that finds enough, the rest is not looked at.
SCANNED = 1_000
# Of keywords without three letters in a row, for which the trigram index knows nothing, that is all there is.
SCANNED_WITHOUT_INDEX = 20_000
# Memories read through the rarest word of the keyword.
MOST_POSTINGS = 2_000
# Words of a keyword that a memory must hold, the rarest first: each is compared with each of those memories.
MOST_WORDS = 100
# Whoever writes one of these means it; punctuation that belongs to sentences and words says nothing.
_SIGN = re.compile(r"[^\w\s.,;:!?'’-]|_")
_TRIGRAM = re.compile(r"[^\W_]{3}")

_HOLDS = "m.text ILIKE %(pattern)s"
_PASSES = condition("m")
_STATEMENT = f"""
WITH recent AS MATERIALIZED (
    SELECT id FROM (
        SELECT id, text FROM memories_memory m
        WHERE m.space_id = %(space)s AND m.is_active AND {_PASSES}
        ORDER BY m.created_at DESC, m.id DESC LIMIT %(scanned)s
    ) AS m WHERE {_HOLDS} LIMIT %(limit)s
), older AS MATERIALIZED (
    SELECT id FROM (
        -- The fence keeps the planner from walking all of the space by age until it has found enough.
        SELECT m.id, m.created_at FROM memories_memory m
        WHERE %(has_trigram)s AND (SELECT count(*) FROM recent) < %(limit)s
          AND m.space_id = %(space)s AND m.is_active AND {_HOLDS} AND {_PASSES}
        OFFSET 0
    ) AS fenced ORDER BY created_at DESC, id DESC LIMIT %(limit)s
), near AS MATERIALIZED (
    SELECT * FROM unnest(%(numbers)s::int[], %(terms)s::text[], %(exact)s::bool[]) AS n(number, term, is_exact)
), worded AS MATERIALIZED (
    SELECT found.memory_id, held.all_exact FROM (
        SELECT DISTINCT p.memory_id FROM near n CROSS JOIN LATERAL (
            SELECT memory_id FROM memories_memoryterm
            WHERE space_id = %(space)s AND term = n.term LIMIT %(postings)s
        ) AS p WHERE n.number = 0
    ) AS found CROSS JOIN LATERAL (
        SELECT count(DISTINCT n.number) AS held,
            count(DISTINCT n.number) FILTER (WHERE n.is_exact) = %(words)s AS all_exact
        FROM near n JOIN memories_memoryterm p
        ON p.space_id = %(space)s AND p.term = n.term AND p.memory_id = found.memory_id
    ) AS held WHERE held.held = %(words)s
), found AS (
    SELECT id, bool_or(all_exact) AS all_exact FROM (
        SELECT id, false AS all_exact FROM recent UNION ALL SELECT id, false FROM older
        UNION ALL SELECT memory_id, all_exact FROM worded
    ) AS legs GROUP BY id
)
SELECT m.id, {_HOLDS} AS is_literal
FROM found JOIN memories_memory m ON m.id = found.id AND m.space_id = %(space)s AND m.is_active AND {_PASSES}
ORDER BY 2 DESC, found.all_exact DESC, m.created_at DESC, m.id DESC LIMIT %(limit)s
"""
_KEYWORD = DatabaseFunction(
    name="keyword",
    parameters={
        "space": "uuid",
        "pattern": "text",
        "has_trigram": "bool",
        "scanned": "int",
        "numbers": "int[]",
        "terms": "text[]",
        "exact": "bool[]",
        "words": "int",
        "postings": "int",
        "limit": "int",
    }
    | PARAMETERS,
    columns={"id": "uuid", "is_literal": "bool"},
    statement=_STATEMENT,
    is_planned_each_time=True,
)


@dataclass(frozen=True)
class Found:
    """A memory; `is_literal` when it holds the keyword as it was written, in any case of letters."""

    id: uuid.UUID
    is_literal: bool


def find_by_keyword(
    cursor: CursorWrapper,
    space: SpaceAccess,
    keyword: str,
    *,
    memory_counts: Mapping[str, int],
    expansions: Mapping[str, Sequence[Expansion]],
    filter: Filter,
    limit: int,
) -> list[Found]:
    """At most `limit` memories, in the order described above. One query.

    `memory_counts` says how many memories hold each term of the keyword, `expansions` what else a term may mean.
    """
    counts = {
        term: count + sum(near.memory_count for near in expansions.get(term, ()))
        for term, count in memory_counts.items()
    }
    numbers: list[int] = []
    names: list[str] = []
    exact: list[bool] = []
    words = sorted(counts, key=lambda term: (counts[term], term))[:MOST_WORDS]
    for number, term in enumerate(words):
        alternatives = [term, *(near.term for near in expansions.get(term, ()))]
        numbers += [number] * len(alternatives)
        names += alternatives
        exact += [name == term for name in alternatives]
    has_trigram = _TRIGRAM.search(keyword) is not None
    rows = _KEYWORD.call(
        cursor,
        filter.parameters
        | {
            "space": space.id,
            "pattern": f"%{escape_like(keyword)}%",
            "has_trigram": has_trigram,
            "scanned": SCANNED if has_trigram else SCANNED_WITHOUT_INDEX,
            "numbers": numbers,
            "terms": names,
            "exact": exact,
            "words": len(words),
            "postings": MOST_POSTINGS,
            "limit": limit,
        },
    )
    found = [Found(identifier, is_literal) for identifier, is_literal in rows]
    if _SIGN.search(keyword) and any(row.is_literal for row in found):
        return [row for row in found if row.is_literal]
    return found
