"""Words of memories as rows: the postings, the vocabulary and the counts that search weighs them by.

Called inside the transaction that makes a memory active or inactive. PostgreSQL's own parser and stemmers make the
terms of most scripts; scripts written without blanks become single characters and pairs of characters, so that a word
of one or two characters is found.
"""

import re
import uuid
from collections import Counter
from collections.abc import Sequence

from django.db import connection

from memories.models import Memory

# Han, Hiragana, Katakana, Bopomofo, Thai, Lao, Myanmar, Khmer: no blanks between words. U+3005-3007 and U+30FC extend.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
# A posting's weight stops growing long before this (BM25 saturates); smallint holds it.
_MOST_COUNTED = 255

_INSERT = """
WITH words AS (
    SELECT lexeme AS term, cardinality(positions) AS frequency
    FROM unnest(to_tsvector(%(language)s::regconfig, %(words)s))
    UNION ALL
    SELECT * FROM unnest(%(grams)s::text[], %(gram_frequencies)s::int[])
), terms AS (
    SELECT term, least(sum(frequency), %(most)s)::smallint AS frequency
    FROM words GROUP BY term
), postings AS (
    INSERT INTO memories_memoryterm (space_id, term, memory_id, frequency)
    SELECT %(space)s, term, %(memory)s, frequency FROM terms
    ON CONFLICT DO NOTHING RETURNING term, frequency
), vocabulary AS (
    -- Ordered, so that two saves in one space take the row locks in the same order.
    INSERT INTO memories_vocabularyterm AS v (space_id, term, memory_count)
    SELECT %(space)s, term, 1 FROM postings ORDER BY term COLLATE "C"
    ON CONFLICT (space_id, term) DO UPDATE SET memory_count = v.memory_count + 1
)
SELECT coalesce(sum(frequency), 0) FROM postings
"""

_STATISTICS = """
INSERT INTO memories_spacestatistics AS s (space_id, memory_count, term_total) VALUES (%s, %s, %s)
ON CONFLICT (space_id) DO UPDATE
SET memory_count = s.memory_count + excluded.memory_count, term_total = s.term_total + excluded.term_total
"""

_REMOVE = """
WITH gone AS (
    DELETE FROM memories_memoryterm WHERE space_id = %(space)s AND memory_id = ANY(%(memories)s) RETURNING term
), lost AS (
    SELECT term, count(*) AS memory_count FROM gone GROUP BY term ORDER BY term COLLATE "C"
), locked AS (
    SELECT v.term FROM memories_vocabularyterm v JOIN lost USING (term)
    WHERE v.space_id = %(space)s ORDER BY v.term FOR UPDATE OF v
)
UPDATE memories_vocabularyterm v SET memory_count = v.memory_count - lost.memory_count
FROM lost JOIN locked USING (term) WHERE v.space_id = %(space)s AND v.term = lost.term
"""


def add_terms(memory: Memory, language: str, context: Sequence[str] = ()) -> int:
    """Index the words of an active memory, with `context` (author, date) beside its text; returns how many there are.

    `language` is the space's text search configuration.
    """
    text = "\n".join([memory.text, memory.category or "", *context])
    words, grams = split_scripts(text)
    counted = Counter(grams)
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            {
                "language": language,
                "words": words,
                "grams": list(counted),
                "gram_frequencies": list(counted.values()),
                "most": _MOST_COUNTED,
                "space": memory.space_id,
                "memory": memory.id,
            },
        )
        (total,) = cursor.fetchone() or (0,)
        cursor.execute(_STATISTICS, [memory.space_id, 1, total])
    return int(total)


def remove_terms(space_id: uuid.UUID, memories: Sequence[Memory]) -> None:
    """Take memories that became inactive out of the word index of their space."""
    if not memories:
        return
    with connection.cursor() as cursor:
        cursor.execute(_REMOVE, {"space": space_id, "memories": [memory.id for memory in memories]})
        total = sum(memory.term_total for memory in memories)
        cursor.execute(_STATISTICS, [space_id, -len(memories), -total])


def split_scripts(text: str) -> tuple[str, list[str]]:
    """`text` without its runs of unspaced scripts, and those runs as single characters and adjacent pairs."""
    grams: list[str] = []
    for run in _UNSPACED.findall(text):
        grams.extend(run)
        grams.extend(run[i : i + 2] for i in range(len(run) - 1))
    return _UNSPACED.sub(" ", text), grams
