"""What a search must know before it can run, read in one query; and the transaction that all its queries share."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper
from psycopg.errors import QueryCanceled

from core.errors import ProviderUnavailable
from memories.embedding.registry import ModelSpec
from memories.queries import PROFILE_SIZE
from memories.search.filters import PARAMETERS, Filter, Kind
from memories.search.functions import DatabaseFunction
from memories.services.terms import SplitText, pairs
from spaces.access import SpaceAccess
from spaces.isolation import bound

# A search that takes longer than this is stopped: it would hold a connection that others wait for.
STATEMENT_TIMEOUT_SECONDS = 10
_DIGIT = re.compile(r"\d")
# Rows kept in view while the HNSW graph is walked. With 500, a question about what a space of 100,000 vectors knows
# finds 99 of 100, and one about anything 97; with 200 only 94 (`benchmarks/recall.py`).
EF_SEARCH = 500
# Up to so many rows all vectors of a space are compared: a few milliseconds, and nothing is missed. Vectors wider than
# 1,000 numbers are stored out of line, where a row costs ten times as much. Measured, see `docs/search.md`.
EXACT_ROWS = 10_000
EXACT_ROWS_WIDE = 1_000
WIDE_DIMENSIONS = 1_000

_STATEMENT = """
WITH settings AS MATERIALIZED (
    SELECT set_config('statement_timeout', %(timeout)s, true),
        -- Compiling a query costs more than any of these takes.
        set_config('jit', 'off', true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', %(ef_search)s, true)
), asked AS (
    SELECT DISTINCT lexeme AS term
    FROM unnest(%(languages)s::text[], %(words)s::text[]) AS part(language, words),
        unnest(to_tsvector(part.language::regconfig, part.words))
    UNION
    SELECT unnest(%(grams)s::text[])
), known AS MATERIALIZED (
    SELECT asked.term, coalesce(v.memory_count, 0) AS memory_count
    FROM asked LEFT JOIN memories_vocabularyterm v ON v.space_id = %(space)s AND v.term = asked.term
)
SELECT model.id, coalesce(hnsw.is_ready, false),
    coalesce(statistics.memory_count, 0), coalesce(statistics.term_total, 0),
    (SELECT count(*) FROM memories_pendingembedding p
     WHERE p.space_id = %(space)s AND p.model_id = coalesce(model.id, searched.id)),
    ARRAY(SELECT term FROM known ORDER BY term COLLATE "C"),
    ARRAY(SELECT memory_count FROM known ORDER BY term COLLATE "C"),
    ARRAY(SELECT m.id FROM memories_memory m WHERE m.space_id = %(space)s AND m.is_active
          ORDER BY m.created_at DESC, m.id DESC LIMIT %(profile)s),
    EXISTS (SELECT FROM memories_edge edge WHERE edge.space_id = %(space)s),
    CASE WHEN hnsw.is_ready IS NOT TRUE THEN 0
        WHEN %(tags)s::text[] IS NOT NULL THEN (SELECT count(*) FROM (
            SELECT DISTINCT g.memory_id FROM memories_memorytag g
            WHERE g.space_id = %(space)s AND g.name = ANY(%(tags)s::text[]) LIMIT %(most_counted)s) AS counted)
        WHEN %(topics)s::uuid[] IS NOT NULL THEN (SELECT count(*) FROM (
            SELECT FROM memories_memory m WHERE m.space_id = %(space)s AND m.is_active AND m.slug IS NOT NULL
            AND m.topic_id = ANY(%(topics)s::uuid[]) LIMIT %(most_counted)s) AS counted)
        WHEN %(category)s::text IS NOT NULL THEN (SELECT count(*) FROM (
            SELECT FROM memories_memory m WHERE m.space_id = %(space)s AND m.is_active AND m.category = %(category)s
            LIMIT %(most_counted)s) AS counted)
        ELSE 0 END
FROM settings
LEFT JOIN memories_embeddingmodel model ON model.slug = %(slug)s AND model.dimensions = %(dimensions)s
LEFT JOIN memories_embeddingmodel searched ON searched.state = 'searched'
LEFT JOIN memories_embeddingindex hnsw ON hnsw.space_id = %(space)s AND hnsw.model_id = model.id
LEFT JOIN memories_spacestatistics statistics ON statistics.space_id = %(space)s
"""
_FACTS = DatabaseFunction(
    name="facts",
    parameters={
        "space": "uuid",
        "timeout": "text",
        "ef_search": "text",
        "languages": "text[]",
        "words": "text[]",
        "grams": "text[]",
        "slug": "text",
        "dimensions": "int",
        "profile": "int",
        "most_counted": "int",
    }
    | PARAMETERS,
    columns={
        "model_id": "smallint",
        "is_indexed": "bool",
        "memory_count": "bigint",
        "term_total": "bigint",
        "pending_embeddings": "bigint",
        "terms": "text[]",
        "memory_counts": "int[]",
        "profile_ids": "uuid[]",
        "has_links": "bool",
        "passing": "bigint",
    },
    statement=_STATEMENT,
)


@dataclass(frozen=True)
class Facts:
    """`memory_counts` maps each term asked for to the number of active memories that hold it, 0 for an unknown one.

    `model_id` is None while nothing was ever embedded by the model. `uses_index` tells that there is an HNSW index to
    walk, and that what a filter leaves, if there is one, is too much to compare all of it. `has_links` tells that the
    space has edges at all.
    """

    model_id: int | None
    uses_index: bool
    memory_count: int
    term_total: int
    pending_embeddings: int
    memory_counts: dict[str, int]
    grams: frozenset[str]
    profile_ids: list[uuid.UUID]
    has_links: bool

    @property
    def spelt_words(self) -> list[str]:
        """Terms that may be misspelt: no pairs of characters, and no numbers, where another one is another thing."""
        return [term for term in self.memory_counts if term not in self.grams and not _DIGIT.search(term)]

    @property
    def average_length(self) -> float:
        """Terms in a memory of this space, on average; at least 1."""
        return max(self.term_total / max(self.memory_count, 1), 1.0)


def exact_limit(dimensions: int) -> int:
    """Rows of this width that are still compared one by one."""
    return EXACT_ROWS_WIDE if dimensions > WIDE_DIMENSIONS else EXACT_ROWS


@contextmanager
def reading(space: SpaceAccess) -> Iterator[CursorWrapper]:
    """The one short transaction of a search, which reaches its space alone. Providers are asked before it begins.

    Raises `ProviderUnavailable` when a statement ran into the time limit.
    """
    try:
        with bound(space), connection.cursor() as cursor:
            yield cursor
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise ProviderUnavailable(
                f"The search was stopped after {STATEMENT_TIMEOUT_SECONDS} seconds; try fewer or rarer words, or add a "
                "category."
            ) from error
        raise


def read_facts(
    cursor: CursorWrapper,
    space: SpaceAccess,
    *,
    asked: SplitText,
    spec: ModelSpec | None,
    filter: Filter,
    with_profile: bool,
) -> Facts:
    """Settings of the transaction, and everything known beforehand, in one query."""
    most_compared = exact_limit(spec.dimensions) if spec else 0
    grams = _query_grams(asked)
    (row,) = _FACTS.call(
        cursor,
        filter.parameters
        | {
            "timeout": str(STATEMENT_TIMEOUT_SECONDS * 1000),
            "ef_search": str(EF_SEARCH),
            "languages": list(asked.words),
            "words": list(asked.words.values()),
            "grams": grams,
            "space": space.id,
            "slug": spec.slug if spec else None,
            "dimensions": spec.dimensions if spec else None,
            "profile": PROFILE_SIZE if with_profile else 0,
            "most_counted": most_compared + 1,
        },
    )
    model_id, is_indexed, memory_count, term_total, pending, terms, counts, profile_ids, has_links, passing = row
    return Facts(
        model_id=model_id,
        uses_index=is_indexed and (filter.kind is Kind.NONE or passing > most_compared),
        memory_count=memory_count,
        term_total=term_total,
        pending_embeddings=pending,
        memory_counts=dict(zip(terms, counts, strict=True)),
        grams=frozenset(grams),
        profile_ids=profile_ids,
        has_links=has_links,
    )


def _query_grams(asked: SplitText) -> list[str]:
    """The pairs of a question in a script without blanks; a single character only where it stands alone."""
    return sorted({gram for run in asked.runs for gram in (pairs(run) or [run])})
