"""Does search by meaning still find what an exact comparison finds, for every tenant of one large table?

One table of 200,000 made-up vectors with tenants of 100, 5,000, 30,000 and 100,000 rows among others. For each, the
ten nearest as the vector leg finds them are held against those of an exact comparison, for questions about what the
tenant knows and about anything. Limits: recall@10 of at least 0.99 up to 10,000 rows and 0.97 above, and never fewer
rows than asked. The ratio is the time of the leg's statement over that of a bare exact scan of the same tenant.

    bin/run python -m benchmarks.recall
"""

import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import milliseconds, quantiles, scratch_database
from memories.embedding.registry import ModelSpec

MEASURED = (100, 5_000, 30_000, 100_000)
# 200,000 rows in all: ten more tenants of 5,000, and the rest in tenants of 100.
FILLER = (5_000,) * 10 + (100,) * 149
QUESTIONS = 40
WANTED = 10
EXACT_ROWS = 10_000

_EXACT = """
SELECT memory_id::text FROM memories_embedding WHERE space_id = %s AND model_id = %s
ORDER BY embedding <=> %s::halfvec, memory_id LIMIT %s
"""


@dataclass(frozen=True)
class Measured:
    """One tenant with one kind of question."""

    rows: int
    kind: str
    recall: float
    fewest: int
    ratio: float

    @property
    def limit(self) -> float:
        return 0.99 if self.rows <= EXACT_ROWS else 0.97

    @property
    def holds(self) -> bool:
        return self.recall >= self.limit and self.fewest == WANTED


def main() -> bool:
    from django.db import connection

    from benchmarks.tenants import add_tenant, queries
    from memories.models import EmbeddingModel
    from memories.search.index import maintain_indexes
    from spaces.models import Space

    model = EmbeddingModel.objects.create(slug="benchmark:made-up", dimensions=384)
    started = time.monotonic()
    tenants = []
    for number, rows in enumerate(MEASURED + FILLER):
        space = Space.objects.create(key=f"tenant-{number}")
        tenants.append(add_tenant(space.id, rows, seed=100 + number, model_id=model.id))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memories_embedding, memories_memory")
    print(f"{sum(tenant.rows for tenant in tenants):,} rows written in {time.monotonic() - started:.0f} s")
    for line in maintain_indexes():
        print(f"{line} ({time.monotonic() - started:.0f} s)")
    print(f"{'rows':>8} {'questions':>10} {'recall@10':>10} {'fewest':>7} {'leg / exact':>12}")
    results = []
    for tenant in tenants[: len(MEASURED)]:
        for own_topics in (True, False):
            asked = queries(tenant, QUESTIONS, own_topics=own_topics)
            measured = _measure(tenant.space_id, model.id, tenant.rows, "own" if own_topics else "any", asked)
            results.append(measured)
            print(
                f"{measured.rows:>8,} {measured.kind:>10} {measured.recall:>10.3f} {measured.fewest:>7} "
                f"{measured.ratio:>12.2f} {'ok' if measured.holds else f'NOT MET (at least {measured.limit})'}"
            )
    return all(measured.holds for measured in results)


def _measure(space_id: uuid.UUID, model_id: int, rows: int, kind: str, asked: NDArray[np.float32]) -> Measured:
    from django.db import connection
    from pgvector import HalfVector

    from memories.search.facts import read_facts, reading
    from memories.search.filters import EVERYTHING
    from memories.search.legs import Meaning, Question, find_candidates
    from memories.search.words import NO_WORDS
    from memories.services.terms import split_words
    from spaces.access import SpaceAccess
    from spaces.models import AccessLevel, Space

    row = Space.objects.get(id=space_id)
    space = SpaceAccess(row.id, row.key, row.name, row.language, AccessLevel.READ)
    spec = _spec()
    recalls, counts, legs, exact = [], [], [], []
    for vector in asked:
        with reading(space) as cursor:
            facts = read_facts(
                cursor, space, asked=split_words("", "simple"), spec=spec, filter=EVERYTHING, with_profile=False
            )
            question = Question(space, EVERYTHING, Meaning(vector, model_id, facts.uses_index), NO_WORDS)
            legs.append(milliseconds(find_candidates, cursor, question, literal=(), at_least=WANTED, keep=WANTED))
            found = find_candidates(cursor, question, literal=(), at_least=WANTED, keep=WANTED).best
        best = [c.id for c in sorted(found, key=lambda c: -(c.cosine or -1.0))[:WANTED]]
        with connection.cursor() as plain:
            parameters: Sequence[object] = [space_id, model_id, HalfVector(vector).to_text(), WANTED]
            exact.append(milliseconds(plain.execute, _EXACT, parameters))
            nearest = [identifier for (identifier,) in plain.fetchall()]
        recalls.append(len(set(best) & set(nearest)) / WANTED)
        counts.append(len(best))
    ratio = quantiles(legs)[0] / quantiles(exact)[0]
    return Measured(rows, kind, float(np.mean(recalls)), min(counts), ratio)


def _spec() -> ModelSpec:
    return ModelSpec(
        slug="benchmark:made-up",
        dimensions=384,
        query_prefix="",
        passage_prefix="",
        chunk_characters=900,
        forget_threshold=1.0,
        confirm_threshold=1.0,
        duplicate_threshold=1.0,
        calibrated="made up",
    )


if __name__ == "__main__":
    with scratch_database():
        held = main()
    sys.exit(0 if held else 1)
