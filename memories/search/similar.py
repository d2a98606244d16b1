"""Memories that say much the same as a text: what a request to forget by content may mean.

Two texts are as alike as the least matched passage of either: a long memory that contains the text, among much else, is
not the same statement.
"""

import logging
import uuid
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.errors import ProviderUnavailable
from memories.embedding.base import Vector
from memories.embedding.registry import ModelSpec
from memories.embedding.service import split_passages
from memories.models import Memory
from memories.search.facts import read_facts, reading
from memories.search.filters import EVERYTHING
from memories.search.legs import Meaning, Question, find_candidates, uuid_array
from memories.search.results import SimilarStatements
from memories.search.words import NO_WORDS, weigh
from memories.services.searched_model import searched_embedder
from memories.services.terms import split_words
from spaces.access import SpaceAccess

logger = logging.getLogger(__name__)

# Longer texts are compared by their words alone: embedding them would keep the caller waiting for seconds.
MOST_PASSAGES = 8
# Candidates whose passages are compared one by one.
COMPARED = 20

_PASSAGES = """
SELECT memory_id, embedding::vector::real[] FROM memories_embedding
WHERE space_id = %s AND model_id = %s AND memory_id = ANY(%s::uuid[])
ORDER BY memory_id, chunk
"""


def similar_statements(space: SpaceAccess, text: str, *, limit: int) -> SimilarStatements:
    """The active memories of `space` most alike to `text`, with the cosine of passages of the active model.

    Without a model, for a long text, or while the provider does not answer, those that share most words, with None.
    """
    spec, vectors = _embed(text)
    asked = split_words(text, space.language)
    with reading(space) as cursor:
        facts = read_facts(cursor, space, asked=asked, spec=spec, filter=EVERYTHING, with_profile=False)
        meaning = None
        if vectors and facts.model_id is not None:
            meaning = Meaning(vectors[0], facts.model_id, facts.uses_index)
        # Either by meaning or by words: what forgets a memory is no mixture.
        question = Question(space, EVERYTHING, meaning, weigh(facts, {}) if meaning is None else NO_WORDS)
        keep = max(limit, COMPARED)
        candidates = find_candidates(cursor, question, literal=(), at_least=limit, keep=keep).best
        similarity: dict[uuid.UUID, float | None]
        if meaning is None:
            spec = None
            best = sorted(candidates, key=lambda candidate: (-round(candidate.words, 9), candidate.id))[:limit]
            similarity = {uuid.UUID(candidate.id): None for candidate in best}
        else:
            best = sorted(candidates, key=lambda candidate: (-(candidate.cosine or -1.0), candidate.id))[:COMPARED]
            cursor.execute(_PASSAGES, [space.id, meaning.model_id, uuid_array([candidate.id for candidate in best])])
            compared = _compare(np.stack(vectors), cursor.fetchall())
            similarity = dict(sorted(compared.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])
        memories = Memory.objects.in_space(space).active().select_related("created_by").in_bulk(list(similarity))
    matches = [(memories[identifier], value) for identifier, value in similarity.items() if identifier in memories]
    return SimilarStatements(matches=matches, spec=spec)


def similarities(
    space: SpaceAccess, model_id: int, texts: Sequence[Sequence[Vector]], memory_ids: Sequence[uuid.UUID]
) -> list[dict[uuid.UUID, float]]:
    """How alike each of `texts` (the vectors of its passages) is to each of some memories; one query.

    A memory without vectors of this model is left out.
    """
    with reading(space) as cursor:
        cursor.execute(_PASSAGES, [space.id, model_id, uuid_array([str(identifier) for identifier in memory_ids])])
        rows = cursor.fetchall()
    return [_compare(np.stack(list(vectors)), rows) for vectors in texts]


def _embed(text: str) -> tuple[ModelSpec | None, list[Vector]]:
    try:
        embedder = searched_embedder()
        if embedder is None:
            return None, []
        passages = split_passages(text, embedder.spec)
        if len(passages) > MOST_PASSAGES:
            return None, []
        return embedder.spec, embedder.embed_passages(passages)
    except ProviderUnavailable as error:
        logger.warning("comparing statements by words only: %s", error.message)
        return None, []


def _compare(asked: NDArray[np.float32], rows: Sequence[tuple[uuid.UUID, list[float]]]) -> dict[uuid.UUID, float]:
    """The similarity of each memory to the text: that of the passage, on either side, that is matched least."""
    passages: dict[uuid.UUID, list[list[float]]] = {}
    for identifier, passage in rows:
        passages.setdefault(identifier, []).append(passage)
    similarity: dict[uuid.UUID, float] = {}
    for identifier, held in passages.items():
        matrix = np.asarray(held, dtype=np.float32)
        cosines = asked @ (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).T
        similarity[identifier] = float(min(cosines.max(axis=1).min(), cosines.max(axis=0).min()))
    return similarity
