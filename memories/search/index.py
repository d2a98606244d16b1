"""The vector indexes of large spaces: which there should be, and making it so.

Small spaces are compared exactly and have none. One index over all tenants would starve the small ones (recall 0.01 to
0.75 measured), so each large space has one of its own per model: a partial HNSW index on the partition that holds it.
"""

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from core.database import as_owner
from memories.embedding.registry import MAXIMUM_DIMENSIONS
from memories.models import EmbeddingIndex
from memories.search.facts import exact_limit

logger = logging.getLogger(__name__)

# An index stays until its space has shrunk to half of what it takes to get one: no building and dropping in turns.
_KEPT_ABOVE = 0.5
# Any number that nothing else in this database locks.
BUILDER_LOCK = 7_206_114_310
_NAME = re.compile(r"memories_hnsw_(\d+)_([0-9a-f]{32})")
# More edges than pgvector's defaults (16 and 64), which find 84 of 100 nearest of an unusual question, where these find
# 94; a build takes about twice as long, in the background.
_GRAPH = "m = 24, ef_construction = 128"
# The graph of 100,000 vectors of 384 numbers fits; without the memory to hold it, a build takes many times as long.
_BUILD_MEMORY = "256MB"

_COUNTS = """
SELECT e.space_id, e.model_id, m.dimensions, count(*)
FROM memories_embedding e JOIN memories_embeddingmodel m ON m.id = e.model_id
GROUP BY e.space_id, e.model_id, m.dimensions
"""
_EXISTING = r"""
SELECT i.relname, x.indisvalid AND x.indisready
FROM pg_inherits h JOIN pg_index x ON x.indrelid = h.inhrelid JOIN pg_class i ON i.oid = x.indexrelid
WHERE h.inhparent = 'memories_embedding'::regclass AND i.relname LIKE 'memories\_hnsw\_%'
"""
_PARTITION = """
SELECT c.relname FROM pg_class c WHERE c.oid =
    (SELECT tableoid FROM memories_embedding WHERE space_id = %s AND model_id = %s LIMIT 1)
"""


@dataclass(frozen=True)
class _Size:
    """How many vectors a space has of a model."""

    space_id: uuid.UUID
    model_id: int
    dimensions: int
    rows: int

    @property
    def name(self) -> str:
        return f"memories_hnsw_{self.model_id}_{self.space_id.hex}"

    @property
    def needs_index(self) -> bool:
        return self.rows > exact_limit(self.dimensions) and self.dimensions <= MAXIMUM_DIMENSIONS

    @property
    def keeps_index(self) -> bool:
        return self.rows > exact_limit(self.dimensions) * _KEPT_ABOVE and self.dimensions <= MAXIMUM_DIMENSIONS


def maintain_indexes() -> list[str]:
    """Build the indexes that spaces have grown to need, and drop those that nothing needs any more.

    Returns a line for each thing done. Call it outside of transactions; searches and saves go on meanwhile. While
    another process does the same, nothing is done.
    """
    with _only_builder() as cursor:
        if cursor is None:
            return []
        return _maintain(cursor)


def drop_indexes_of(model_id: int) -> None:
    """Drop the indexes of a model that nothing is searched by any more; while another process builds, it does so later.

    Call it outside of transactions.
    """
    with _only_builder() as cursor:
        if cursor is None:
            return
        cursor.execute(_EXISTING)
        for name, _ in cursor.fetchall():
            parts = _NAME.fullmatch(name)
            if parts is not None and int(parts.group(1)) == model_id:
                _mark_unusable(name)
                _drop(cursor, name)


def _maintain(cursor: CursorWrapper) -> list[str]:
    cursor.execute(_COUNTS)
    sizes = {size.name: size for size in (_Size(*row) for row in cursor.fetchall())}
    cursor.execute(_EXISTING)
    existing: dict[str, bool] = dict(cursor.fetchall())
    kept = {
        name for name, size in sizes.items() if size.needs_index or (size.keeps_index and existing.get(name, False))
    }
    done: list[str] = []
    for name in sorted(existing):
        # An invalid index is what an interrupted build leaves behind: it costs writes and helps nobody.
        if name not in kept or not existing[name]:
            _mark_unusable(name)
            _drop(cursor, name)
            done.append(f"dropped {name}")
    EmbeddingIndex.objects.exclude(name__in=kept).delete()
    for name in sorted(kept, key=lambda name: (sizes[name].rows, name)):
        size = sizes[name]
        if not existing.get(name, False):
            _record(size, is_ready=False)
            _build(cursor, size)
            done.append(f"built {name} over {size.rows:,} rows")
        _record(size, is_ready=True)
    return done


@contextmanager
def _only_builder() -> Iterator[CursorWrapper | None]:
    """A cursor of a session that is the only one to build, or None. Its settings are put back afterwards."""
    with as_owner(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [BUILDER_LOCK])
        if not cursor.fetchall()[0][0]:
            yield None
            return
        try:
            # One process, not several: those would take shared memory that containers have little of, and both cores.
            cursor.execute("SET max_parallel_maintenance_workers = 0")
            cursor.execute(f"SET maintenance_work_mem = '{_BUILD_MEMORY}'")
            yield cursor
        finally:
            cursor.execute("RESET max_parallel_maintenance_workers")
            cursor.execute("RESET maintenance_work_mem")
            cursor.execute("SELECT pg_advisory_unlock(%s)", [BUILDER_LOCK])


def _build(cursor: CursorWrapper, size: _Size) -> None:
    cursor.execute(_PARTITION, [size.space_id, size.model_id])
    found = cursor.fetchall()
    if not found:
        return
    logger.info("building %s over %s rows", size.name, size.rows)
    statement = sql.SQL(
        "CREATE INDEX CONCURRENTLY {name} ON {partition} USING hnsw ((embedding::halfvec({width})) halfvec_cosine_ops)"
        " WITH ({graph}) WHERE model_id = {model} AND space_id = {space}"
    ).format(
        name=sql.Identifier(size.name),
        partition=sql.Identifier(found[0][0]),
        width=sql.Literal(size.dimensions),
        graph=sql.SQL(_GRAPH),
        model=sql.Literal(size.model_id),
        space=sql.Literal(str(size.space_id)),
    )
    cursor.execute(statement)


def _drop(cursor: CursorWrapper, name: str) -> None:
    logger.info("dropping %s", name)
    cursor.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))


def _record(size: _Size, *, is_ready: bool) -> None:
    EmbeddingIndex.objects.update_or_create(
        space_id=size.space_id,
        model_id=size.model_id,
        defaults={"row_count": size.rows, "name": size.name, "is_ready": is_ready},
    )


def _mark_unusable(name: str) -> None:
    EmbeddingIndex.objects.filter(name=name).update(is_ready=False)
