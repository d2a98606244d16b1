"""Words a space does not know, led to those it does: misspelt ones, and the parts and wholes of compounds.

    expand(cursor, space, ["sesion"])      # {"sesion": [Expansion("session", 12, 0.6)]}

A word within one edit of another shares its first or its second half with it, one within two edits a third (or two
neighbouring letters changed places). So candidates are read by prefix, suffix and middle, which the trigram index of
the vocabulary answers for every script, and the exact distance decides. Nothing here reads the memories themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.backends.utils import CursorWrapper
from rapidfuzz.distance import OSA

from memories.search.functions import DatabaseFunction
from spaces.access import SpaceAccess

# Shorter words have too many neighbours for a guess.
SHORTEST_MISSPELT = 4
SHORTEST_WITH_TWO_EDITS = 8
SHORTEST_PART = 5
# Longer ones are no words that anybody mistypes, and their variants would make megabytes of a statement.
LONGEST_EXPANDED = 64
# Words that are led further, the longest first: a pasted page must not become a hundred look-ups.
MOST_EXPANDED = 8
MOST_EXPANSIONS = 6
_MOST_READ = 1_000

# What a term counts when it stands for another: less than the word itself, which counts 1.
WEIGHT_OF_DISTANCE = {1: 0.6, 2: 0.4}
WEIGHT_OF_COMPOUND = 0.5

# The first disjunction is what the indexes answer (GIN trigrams, and the key for whole terms), the second what is kept.
_STATEMENT = """
SELECT %(word)s::text, v.term, v.memory_count FROM memories_vocabularyterm v
WHERE v.space_id = %(space)s AND v.memory_count > 0
   AND (v.term LIKE %(prefix)s OR v.term LIKE %(suffix)s OR v.term LIKE %(middle)s OR v.term = ANY(%(whole)s))
   AND (char_length(v.term) BETWEEN %(shortest)s AND %(longest)s
        OR v.term LIKE %(beginning)s OR v.term LIKE %(ending)s OR v.term = ANY(%(whole)s))
LIMIT %(most)s
"""
_NEAR = DatabaseFunction(
    name="near_terms",
    parameters={
        "space": "uuid",
        "word": "text",
        "prefix": "text",
        "suffix": "text",
        "middle": "text",
        "whole": "text[]",
        "shortest": "int",
        "longest": "int",
        "beginning": "text",
        "ending": "text",
        "most": "int",
    },
    columns={"word": "text", "term": "text", "memory_count": "int"},
    statement=_STATEMENT,
    is_planned_each_time=True,
)


@dataclass(frozen=True)
class Expansion:
    """A term of the space that may be meant, in how many memories it occurs, and what it counts (below 1)."""

    term: str
    memory_count: int
    weight: float


def expand(cursor: CursorWrapper, space: SpaceAccess, unknown: Sequence[str]) -> dict[str, list[Expansion]]:
    """Known terms of the space for each of `unknown`, the likeliest first. One query, none when nothing can be led on.

    The more terms are equally near, the less each of them counts.
    """
    words = sorted(
        {word for word in unknown if SHORTEST_MISSPELT <= len(word) <= LONGEST_EXPANDED},
        key=lambda word: (-len(word), word),
    )[:MOST_EXPANDED]
    if not words:
        return {}
    statements = [cursor.mogrify(_NEAR.call_text(), _conditions(space, word)) for word in words]
    cursor.execute(" UNION ALL ".join(statements))
    near: dict[str, dict[str, int]] = {word: {} for word in words}
    for word, term, memory_count in cursor.fetchall():
        near[word][term] = memory_count
    return {word: expansions for word in words if (expansions := _choose(word, near[word]))}


def most_edits(word: str) -> int:
    """How many letters may be wrong: 1 from four letters on, 2 from eight."""
    if len(word) < SHORTEST_MISSPELT:
        return 0
    return 2 if len(word) >= SHORTEST_WITH_TWO_EDITS else 1


def _conditions(space: SpaceAccess, word: str) -> dict[str, Any]:
    edits = most_edits(word)
    size = len(word) // (edits + 1)
    prefix, suffix = f"{escape_like(word[:size])}%", f"%{escape_like(word[-size:])}"
    swapped = [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)]
    ends = range(SHORTEST_PART, len(word) - 1)
    parts = [word[:end] for end in ends] + [word[-end:] for end in ends]
    is_part = len(word) >= SHORTEST_PART
    return {
        "word": word,
        "space": space.id,
        "prefix": prefix,
        "suffix": suffix,
        "middle": f"%{escape_like(word[size:-size])}%" if edits > 1 else prefix,
        "whole": swapped + parts,
        "shortest": len(word) - edits,
        "longest": len(word) + edits,
        "beginning": f"{escape_like(word)}%" if is_part else word,
        "ending": f"%{escape_like(word)}" if is_part else word,
        "most": _MOST_READ,
    }


def _choose(word: str, near: dict[str, int]) -> list[Expansion]:
    groups: dict[float, list[str]] = {}
    for term in near:
        distance = OSA.distance(word, term, score_cutoff=most_edits(word))
        if distance in WEIGHT_OF_DISTANCE and distance <= most_edits(word):
            groups.setdefault(WEIGHT_OF_DISTANCE[distance], []).append(term)
        elif _is_compound(word, term):
            groups.setdefault(WEIGHT_OF_COMPOUND, []).append(term)
    found = [
        Expansion(term, near[term], weight / len(terms))
        for weight, terms in groups.items()
        # Of equally near terms, those most alike in length and most used are the likeliest.
        for term in sorted(terms, key=lambda term: (abs(len(term) - len(word)), -near[term], term))
    ]
    return sorted(found, key=lambda expansion: -expansion.weight)[:MOST_EXPANSIONS]


def _is_compound(word: str, term: str) -> bool:
    long, short = (term, word) if len(term) > len(word) else (word, term)
    return len(short) >= SHORTEST_PART and (long.startswith(short) or long.endswith(short))


def escape_like(text: str) -> str:
    """`text` as a LIKE pattern that matches nothing but itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
