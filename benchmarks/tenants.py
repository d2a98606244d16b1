"""Tenants of chosen sizes with made-up vectors and texts, written in bulk: embedding 200,000 memories would take hours.

Vectors are spread as those of multilingual-e5-small are (measured on 1,785 questions of XQuAD): all near one direction,
which holds 0.9 of their length, and around it with a variance that falls as the -0.7th power of the dimension, so that
about a hundred dimensions count. Each topic is a centre; each tenant knows some of the topics. Texts are words by
Zipf's law. Everything is the same in every run.
"""

import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

DIMENSIONS = 384
TOPICS = 2_000
_SPREAD = 0.9  # of what a memory says around its topic, whose own length is 1
_COMMON = 0.9  # of a vector's length that all vectors share
_OWN = 0.44
_SCALES = np.arange(1, DIMENSIONS + 1, dtype=np.float32) ** -0.35  # standard deviations
_WORDS = 30_000
_WORDS_A_MEMORY = 32


@dataclass(frozen=True)
class Tenant:
    """A space, and the topics its memories are about."""

    space_id: uuid.UUID
    rows: int
    topics: NDArray[np.int64]


def centres() -> NDArray[np.float32]:
    """The centre of each topic, shape (TOPICS, DIMENSIONS), unit length."""
    return _directions((TOPICS, DIMENSIONS), 1)


def around(points: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """An embedding of something about each of the topics with these centres, unit length."""
    own = _unit(points + _SPREAD * _directions(points.shape, seed))
    return _unit(_COMMON * _directions((1, DIMENSIONS), 0) + _OWN * own)


def add_tenant(space_id: uuid.UUID, rows: int, *, seed: int, model_id: int, with_words: bool = False) -> Tenant:
    """Fill an empty space with `rows` embedded memories; `with_words` makes them findable by words too."""
    from django.db import connection

    from core.database import as_owner

    chance = np.random.default_rng(seed)
    tenant = Tenant(space_id, rows, chance.choice(TOPICS, size=max(3, min(TOPICS // 4, rows // 40)), replace=False))
    ids = [uuid.UUID(bytes=chance.bytes(16)) for _ in range(rows)]
    texts = _texts(rows, seed) if with_words else [f"Memory {number} of tenant {seed}." for number in range(rows)]
    with as_owner():  # COPY does not go with row-level security
        raw = connection.connection
        register_vector(raw)
        _copy_memories(raw, tenant, ids, texts)
        _copy_embeddings(raw, tenant, ids, seed, model_id)
        if with_words:
            _copy_terms(raw, tenant, ids, texts)
    return tenant


def queries(tenant: Tenant, number: int, *, own_topics: bool, seed: int = 5) -> NDArray[np.float32]:
    """Vectors to search by: about the tenant's topics, or about any topic at all."""
    chance = np.random.default_rng(seed)
    topics = tenant.topics if own_topics else np.arange(TOPICS)
    return around(centres()[chance.choice(topics, size=number)], seed)


def question(seed: int, words: int = 8) -> str:
    """Words that such texts are made of."""
    return " ".join(_draw(np.random.default_rng(seed), words))


def _directions(shape: tuple[int, ...], seed: int) -> NDArray[np.float32]:
    return _unit(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32) * _SCALES)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)


def _draw(chance: np.random.Generator, number: int) -> list[str]:
    # Zipf's law as Mandelbrot put it, without the commonest words, which a stop list takes out: the first stands in
    # about one memory of seven.
    likelihood = 1.0 / (np.arange(_WORDS) + 20.0)
    return [_word(int(rank)) for rank in chance.choice(_WORDS, size=number, p=likelihood / likelihood.sum())]


def _word(rank: int) -> str:
    syllables = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu")
    return "".join(syllables[int(digit)] for digit in str(rank + 10))


def _texts(rows: int, seed: int) -> list[str]:
    words = _draw(np.random.default_rng(seed), rows * _WORDS_A_MEMORY)
    return [" ".join(words[start : start + _WORDS_A_MEMORY]) for start in range(0, len(words), _WORDS_A_MEMORY)]


def _copy_memories(raw: psycopg.Connection, tenant: Tenant, ids: list[uuid.UUID], texts: list[str]) -> None:
    columns = (
        "id, space_id, text, version, is_active, content_hash, term_total, created_via, created_at, updated_at, "
        "deactivation_reason"
    )
    with raw.cursor().copy(f"COPY memories_memory ({columns}) FROM STDIN") as copy:
        for number, (identifier, text) in enumerate(zip(ids, texts, strict=True)):
            moment = str(np.datetime64("2026-01-01T00:00:00") + np.timedelta64(number, "s")) + "Z"
            copy.write_row(
                (
                    identifier,
                    tenant.space_id,
                    text,
                    1,
                    True,
                    identifier.bytes,
                    _WORDS_A_MEMORY,
                    "mcp",
                    moment,
                    moment,
                    "",
                )
            )


def _copy_embeddings(raw: psycopg.Connection, tenant: Tenant, ids: list[uuid.UUID], seed: int, model_id: int) -> None:
    types = ["uuid", "int2", "uuid", "int2", "halfvec"]
    statement = "COPY memories_embedding (space_id, model_id, memory_id, chunk, embedding) FROM STDIN (FORMAT BINARY)"
    with raw.cursor().copy(statement) as copy:
        copy.set_types(types)
        for identifier, vector in zip(ids, _vectors(tenant, seed), strict=True):
            copy.write_row((tenant.space_id, model_id, identifier, 0, HalfVector(vector)))


def _vectors(tenant: Tenant, seed: int) -> Iterator[NDArray[np.float32]]:
    chance = np.random.default_rng(seed + 1)
    for start in range(0, tenant.rows, 10_000):
        topics = chance.choice(tenant.topics, size=min(10_000, tenant.rows - start))
        yield from around(centres()[topics], seed + start)


def _copy_terms(raw: psycopg.Connection, tenant: Tenant, ids: list[uuid.UUID], texts: list[str]) -> None:
    found_in: Counter[str] = Counter()
    columns = "space_id, term, memory_id, frequency, length"
    with raw.cursor().copy(f"COPY memories_memoryterm ({columns}) FROM STDIN") as copy:
        for identifier, text in zip(ids, texts, strict=True):
            counted = Counter(text.split())
            found_in.update(counted.keys())
            for term, frequency in counted.items():
                copy.write_row((tenant.space_id, term, identifier, frequency, _WORDS_A_MEMORY))
    with raw.cursor().copy("COPY memories_vocabularyterm (space_id, term, memory_count) FROM STDIN") as copy:
        for term, count in found_in.items():
            copy.write_row((tenant.space_id, term, count))
    raw.execute(
        "INSERT INTO memories_spacestatistics (space_id, memory_count, term_total) VALUES (%s, %s, %s)",
        (tenant.space_id, tenant.rows, tenant.rows * _WORDS_A_MEMORY),
    )
