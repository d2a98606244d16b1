"""Notes that say nearly the same: found through the vectors of one space, in bounded work, and linked when asked for.

page = find_similar(access, project="geb")                 # some hundred notes, each with its nearest
page = find_similar(access, project="geb", cursor=page.next_cursor)

Each call takes the next few hundred notes and asks the index (or, in a small space, its rows) for the nearest of each:
work grows with the notes that are looked at, not with their pairs.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from core.errors import Invalid, ProviderUnavailable
from core.paging import decode_cursor, encode_cursor, not_a_cursor
from memories.models import Edge, EmbeddingIndex, Memory, RelationType
from memories.note_models import NoteStatus
from memories.notes import Note, named, note_of
from memories.search.facts import EF_SEARCH, STATEMENT_TIMEOUT_SECONDS
from memories.services.embeddings import ActiveModel, active_model
from memories.services.record import recording
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel

# Pairs told in one answer, as in the reference system.
MAXIMUM_PAIRS = 50
# Notes whose nearest are looked for in one call, over all spaces that are looked at.
PROBES = 300
_NEIGHBOURS = 10
# Of longer notes the beginning is compared.
_PASSAGES_COMPARED = 8

_SETTINGS = """
SELECT set_config('statement_timeout', %s, true), set_config('jit', 'off', true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', %s, true)
"""
_NEAREST = """
SELECT p.id, near.memory_id
FROM (
    SELECT m.id, e.embedding FROM memories_memory m
    JOIN memories_embedding e
        ON e.space_id = %(space)s AND e.model_id = %(model)s AND e.memory_id = m.id AND e.chunk = 0
    WHERE m.space_id = %(space)s AND m.id = ANY(%(probes)s::uuid[])
) AS p CROSS JOIN LATERAL (
    SELECT e.memory_id FROM memories_embedding e
    JOIN memories_memory m ON m.id = e.memory_id AND m.space_id = %(space)s
        AND m.is_active AND m.slug IS NOT NULL AND m.status = 'current'
    WHERE e.space_id = %(space)s AND e.model_id = %(model)s AND e.memory_id <> p.id
    ORDER BY {distance} LIMIT %(neighbours)s
) AS near
"""
_EXACT = "e.embedding <=> p.embedding"
_INDEXED = "e.embedding::halfvec({width}) <=> p.embedding::halfvec({width})"
_PASSAGES = """
SELECT memory_id, embedding::vector::real[] FROM memories_embedding
WHERE space_id = %s AND model_id = %s AND memory_id = ANY(%s::uuid[]) AND chunk < %s ORDER BY memory_id, chunk
"""

_Pair = tuple[uuid.UUID, uuid.UUID]


@dataclass(frozen=True)
class SimilarPair:
    """Two notes and the cosine of what matches least in either. `linked` says that this call has linked them."""

    first: Note
    second: Note
    similarity: float
    linked: bool


@dataclass(frozen=True)
class SimilarPage:
    """Pairs, nearest first. `threshold` is the one that was used; `next_cursor` leads to notes not looked at yet."""

    pairs: Sequence[SimilarPair]
    threshold: float
    next_cursor: str | None


def find_similar(
    access: AccessContext,
    *,
    project: str | None = None,
    threshold: float | None = None,
    auto_link: bool = False,
    cursor: str | None = None,
) -> SimilarPage:
    """Pairs of current notes of one project (or of each of the caller's) at least as alike as `threshold`.

    Without one, the threshold is the model's own for duplicates. Pairs that are linked already, in whatever way, are
    left out. `auto_link` links the pairs as `related_to`, in one commit a project. A `cursor` goes with a project.

    Raises `NotFound` and `AccessDenied` for the project, `Invalid` for the rest, and `ProviderUnavailable` where
    search by meaning is turned off.
    """
    level = AccessLevel.READ_WRITE if auto_link else AccessLevel.READ
    if project is not None:
        spaces: Sequence[SpaceAccess] = [access.space(project, level)]
    else:
        spaces = [space for space in access.spaces if space.level >= level]
        if cursor:
            raise Invalid("cursor can only be given with a project.")
    model = active_model()
    if model is None:
        raise ProviderUnavailable("Notes are compared by meaning, which is turned off on this server.", permanent=True)
    wanted = model.embedder.spec.duplicate_threshold if threshold is None else threshold
    if not 0 < wanted <= 1:
        raise Invalid("threshold must be more than 0 and at most 1.")
    found: list[SimilarPair] = []
    next_cursor = None
    probes = max(PROBES // max(len(spaces), 1), 1)
    for space in spaces:
        pairs, next_cursor = _pairs_of(space, model, wanted, cursor, probes)
        pairs = pairs[: MAXIMUM_PAIRS - len(found)]
        found += _link(access, space, pairs) if auto_link else pairs
    found.sort(key=lambda pair: (-pair.similarity, str(pair.first.id), str(pair.second.id)))
    return SimilarPage(found, wanted, next_cursor if project is not None else None)


def _pairs_of(
    space: SpaceAccess, model: ActiveModel, threshold: float, cursor: str | None, probes: int
) -> tuple[list[SimilarPair], str | None]:
    with bound(space), connection.cursor() as database:
        ids, next_cursor = _probes(space, cursor, probes)
        if not ids:
            return [], None
        database.execute(_SETTINGS, [str(STATEMENT_TIMEOUT_SECONDS * 1000), str(EF_SEARCH)])
        width = model.embedder.spec.dimensions
        has_index = EmbeddingIndex.objects.in_space(space).filter(model_id=model.row_id, is_ready=True).exists()
        database.execute(
            _NEAREST.format(distance=_INDEXED.format(width=width) if has_index else _EXACT),
            {"space": space.id, "model": model.row_id, "probes": ids, "neighbours": _NEIGHBOURS},
        )
        candidates = {_ordered(a, b) for a, b in database.fetchall()}
        involved = list({identifier for pair in candidates for identifier in pair})
        database.execute(_PASSAGES, [space.id, model.row_id, involved, _PASSAGES_COMPARED])
        passages = _matrices(database.fetchall())
        linked = _linked(space, involved)
        scored = {
            (a, b): similarity
            for a, b in candidates - linked
            if (similarity := _alike(passages[a], passages[b])) >= threshold
        }
        best = sorted(scored, key=lambda pair: (-scored[pair], pair))[:MAXIMUM_PAIRS]
        rows = named(Memory.objects.in_space(space).notes()).in_bulk(
            [identifier for pair in best for identifier in pair]
        )
        notes = {identifier: note_of(row, space) for identifier, row in rows.items()}
    return [SimilarPair(notes[a], notes[b], scored[a, b], linked=False) for a, b in best], next_cursor


def _probes(space: SpaceAccess, cursor: str | None, number: int) -> tuple[list[uuid.UUID], str | None]:
    """The notes whose turn it is: by id, so that a page is the same however notes change meanwhile."""
    rows = Memory.objects.in_space(space).notes().filter(status=NoteStatus.CURRENT).order_by("-id")
    if cursor:
        try:
            rows = rows.filter(id__lt=uuid.UUID(decode_cursor(cursor, 1)[0]))
        except ValueError:
            raise not_a_cursor() from None
    ids = list(rows.values_list("id", flat=True)[: number + 1])
    return ids[:number], encode_cursor(str(ids[number - 1])) if len(ids) > number else None


def _linked(space: SpaceAccess, ids: Sequence[uuid.UUID]) -> set[_Pair]:
    rows = Edge.objects.in_space(space).filter(from_memory_id__in=ids, to_memory_id__in=ids)
    return {_ordered(a, b) for a, b in rows.values_list("from_memory_id", "to_memory_id")}


def _ordered(a: uuid.UUID, b: uuid.UUID) -> _Pair:
    return (a, b) if a < b else (b, a)


def _matrices(rows: Sequence[tuple[uuid.UUID, list[float]]]) -> dict[uuid.UUID, NDArray[np.float32]]:
    held: dict[uuid.UUID, list[list[float]]] = {}
    for identifier, passage in rows:
        held.setdefault(identifier, []).append(passage)
    found = {}
    for identifier, passages in held.items():
        matrix = np.asarray(passages, dtype=np.float32)
        found[identifier] = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return found


def _alike(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """The cosine of the passage, on either side, that is matched least."""
    cosines = a @ b.T
    return round(float(min(cosines.max(axis=1).min(), cosines.max(axis=0).min())), 4)


def _link(access: AccessContext, space: SpaceAccess, pairs: Sequence[SimilarPair]) -> list[SimilarPair]:
    if not pairs:
        return []
    with recording(access, space.id, f"Link {len(pairs)} pairs of similar notes") as record:
        there = set(
            Memory.objects.in_space(space)
            .notes()
            .filter(id__in={note.id for pair in pairs for note in (pair.first, pair.second)})
            .values_list("id", flat=True)
        )
        linkable = [pair for pair in pairs if {pair.first.id, pair.second.id} <= there]
        made = Edge.objects.bulk_create(
            [
                Edge(
                    space_id=space.id,
                    from_memory_id=pair.first.id,
                    to_memory_id=pair.second.id,
                    relation_type=RelationType.RELATED_TO,
                    note=f"similarity {pair.similarity:.4f}",
                    created_by_id=access.user_id,
                )
                for pair in linkable
            ],
            ignore_conflicts=True,
        )
        record.relinked(*(edge.from_memory_id for edge in made))
    return [replace(pair, linked=pair in linkable) for pair in pairs]
