"""Words of memories as rows: the postings, the vocabulary and the counts that search weighs them by.

`add_terms` and `remove_terms` are called inside the transaction that makes a memory active or inactive; search cuts
questions with the same `split_words`. Scripts with blanks are cut at everything that is no letter, mark or digit, get
one spelling of umlauts, and are stemmed by PostgreSQL; scripts without blanks become single characters and pairs of
characters, so that a word of one or two characters is found.
"""

import re
import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import connection

from memories.models import Memory, MemoryTag

# Han, Hiragana, Katakana, Bopomofo, Thai, Lao, Myanmar, Khmer: no blanks between words. U+3005-3007 and U+30FC extend.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
# A script that one stemmer serves best is stemmed by it, whatever the main language of the space.
_STEMMER_OF_SCRIPT = (
    (re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff]"), "arabic"),
    (re.compile("[\u0400-\u052f]"), "russian"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
)
_UNSTEMMED = "simple"
# Where ä, ö and ü are letters of their own, and not other ways of writing ae, oe and ue.
_OWN_LETTERS = frozenset(("finnish", "hungarian", "swedish", "turkish", "estonian"))
# Its stemmer, which knows stop words such as “für”, takes the dots away by itself.
_WITH_DOTS = "german"
_DOTLESS = str.maketrans("äöü", "aou")
_DOTTED = {"a": "ä", "o": "ö", "u": "ü"}
# An umlaut written out: “mueller”, “haeuser”, “oel”. Endings of words that are no German ones are left alone, so that
# “fuel”, “guest”, “poet” and “values” stay themselves.
_WRITTEN_OUT = re.compile(
    r"(?:^|(?<=[^aeiouyqäöü]))([aou])e(?:(?=[^aeiouäöü])(?!(?:[sd]|ls?|ts?|ms?|sts?|nts?)$)|(?<=ae)(?=u))"
    r"|^([aou])e(?=[^aeiouäöü])"
)
# A posting's weight stops growing long before this (BM25 saturates); smallint holds it.
_MOST_COUNTED = 255
_LONGEST_COUNTED = 32_767
# Characters; each is four bytes at most, and PostgreSQL keeps the positions of a word beside it.
_LONGEST_PART = 100_000
# Counted up when words are cut otherwise than before: the worker indexes spaces anew that have an older one.
WORDS_VERSION = 2

_INSERT = """
WITH words AS (
    SELECT lexeme AS term, cardinality(positions) AS frequency
    FROM unnest(%(languages)s::text[], %(words)s::text[]) AS part(language, words),
        unnest(to_tsvector(part.language::regconfig, part.words))
    UNION ALL
    SELECT * FROM unnest(%(grams)s::text[], %(gram_frequencies)s::int[])
), terms AS (
    SELECT term, least(sum(frequency), %(most)s)::smallint AS frequency
    FROM words GROUP BY term
), postings AS (
    INSERT INTO memories_memoryterm (space_id, term, memory_id, frequency, length)
    SELECT %(space)s, term, %(memory)s, frequency, least(sum(frequency) OVER (), %(longest)s) FROM terms
    ON CONFLICT DO NOTHING RETURNING term, frequency
), vocabulary AS (
    -- Ordered, so that two saves in one space take the row locks in the same order.
    INSERT INTO memories_vocabularyterm AS v (space_id, term, memory_count)
    SELECT %(space)s, term, 1 FROM postings ORDER BY term COLLATE "C"
    ON CONFLICT (space_id, term) DO UPDATE SET memory_count = v.memory_count + 1
)
SELECT coalesce(sum(frequency), 0) FROM postings
"""

_STATISTICS = f"""
INSERT INTO memories_spacestatistics AS s (space_id, memory_count, term_total, words_version)
VALUES (%s, %s, %s, {WORDS_VERSION})
ON CONFLICT (space_id) DO UPDATE
SET memory_count = s.memory_count + excluded.memory_count, term_total = s.term_total + excluded.term_total
"""  # noqa: S608 - a number

# One statement with the row's own count, since every save in the space waits for this counter until the commit.
_COUNT_IN = f"""
WITH counted AS (UPDATE memories_memory SET term_total = %(total)s WHERE id = %(memory)s)
{_STATISTICS % ("%(space)s", "1", "%(total)s")}
"""  # noqa: S608 - put together of constants

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


@dataclass(frozen=True)
class SplitText:
    """A text cut into words: `words` maps a text search configuration to its words with blanks between them; `runs`
    are the stretches of scripts without blanks."""

    words: dict[str, str]
    runs: list[str]


def add_terms(memory: Memory, language: str, context: Sequence[str] = ()) -> None:
    """Index the words of an active memory, with its category, its source and `context` (author, date) beside its text.

    Sets the memory's `term_total` and stores it. `language` is the space's text search configuration. Best the last
    statement of a transaction: from here to the commit other saves in the space wait.
    """
    text = "\n".join([memory.text, memory.category or "", memory.source or "", *context])
    split = split_words(text, language)
    counted = Counter(gram for run in split.runs for gram in all_grams(run))
    parts = [(language, part) for language, words in split.words.items() for part in _parts(words)]
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            {
                "languages": [language for language, _ in parts],
                "words": [words for _, words in parts],
                "grams": list(counted),
                "gram_frequencies": list(counted.values()),
                "most": _MOST_COUNTED,
                "longest": _LONGEST_COUNTED,
                "space": memory.space_id,
                "memory": memory.id,
            },
        )
        (total,) = cursor.fetchone() or (0,)
        cursor.execute(_COUNT_IN, {"space": memory.space_id, "memory": memory.id, "total": total})
    memory.term_total = int(total)


def note_terms(memory: Memory) -> list[str]:
    """What is indexed with the words of a note beside its text: title, tags and where it stands. None for a fact."""
    if memory.title is None or memory.topic is None:
        return []
    tags = [tag.name for tag in MemoryTag.objects.filter(space_id=memory.space_id, memory_id=memory.id)]
    return [memory.title, *tags, memory.topic.path, memory.topic.name]


def remove_terms(space_id: uuid.UUID, memories: Sequence[Memory]) -> None:
    """Take memories that became inactive out of the word index of their space."""
    if not memories:
        return
    with connection.cursor() as cursor:
        cursor.execute(_REMOVE, {"space": space_id, "memories": [memory.id for memory in memories]})
        total = sum(memory.term_total for memory in memories)
        cursor.execute(_STATISTICS, [space_id, -len(memories), -total])


def split_words(text: str, language: str) -> SplitText:
    """`text` cut into words, each under the configuration that stems it best in a space of this `language`."""
    plain = plain_words(text)
    runs = _UNSPACED.findall(plain)
    words: dict[str, list[str]] = {}
    for word in _UNSPACED.sub(" ", plain).split():
        stemmer = _stemmer(word, language)
        words.setdefault(stemmer, []).append(fold_umlauts(word, stemmer))
    return SplitText(words={name: " ".join(found) for name, found in words.items()}, runs=runs)


def plain_words(text: str) -> str:
    """`text` in one form of width and case, with a blank for everything that is no letter, mark or digit.

    Nothing but words is left, so PostgreSQL's parser finds no addresses, paths or tags to keep whole or to drop.
    """
    return unicodedata.normalize("NFKC", text).casefold().translate(_BLANKS)


def fold_umlauts(word: str, stemmer: str = _UNSTEMMED) -> str:
    """A word of `plain_words` in one spelling of its umlauts, so that Müller, Mueller and Muller are one word."""
    if stemmer in _OWN_LETTERS:
        return word
    if stemmer == _WITH_DOTS:
        return _WRITTEN_OUT.sub(lambda found: _DOTTED[found.group(1) or found.group(2)], word)
    return _WRITTEN_OUT.sub(lambda found: found.group(1) or found.group(2), word.translate(_DOTLESS))


def all_grams(run: str) -> list[str]:
    """A stretch of a script without blanks as it is indexed: single characters and adjacent pairs."""
    return [*run, *pairs(run)]


def pairs(run: str) -> list[str]:
    """The adjacent pairs of a stretch of characters."""
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _parts(words: str) -> Iterator[str]:
    """Words in stretches that PostgreSQL can index at once: the words of one may take a megabyte at most."""
    start = 0
    while len(words) - start > _LONGEST_PART:
        border = words.rfind(" ", start, start + _LONGEST_PART)
        end = border if border > start else start + _LONGEST_PART
        yield words[start:end]
        start = end
    yield words[start:]


def _stemmer(word: str, language: str) -> str:
    if language == _UNSTEMMED or word.isascii():
        return language
    return next((stemmer for script, stemmer in _STEMMER_OF_SCRIPT if script.match(word)), language)


class _Blanks(dict[int, int | None]):
    """A table for `str.translate`, filled as characters are met."""

    # Inside words, but no part of them: soft hyphen, Arabic tatweel, joiners, the byte order mark, zero-width blank.
    _DROPPED = frozenset((0x00AD, 0x0640, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))

    def __missing__(self, code: int) -> int | None:
        is_part_of_words = unicodedata.category(chr(code))[0] in "LMN"
        meaning = None if code in self._DROPPED else code if is_part_of_words else ord(" ")
        self[code] = meaning
        return meaning


_BLANKS = _Blanks()
