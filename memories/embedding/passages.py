"""Splitting long text into passages that a model reads completely.

Every character that can be seen is in some passage; neighbouring passages share a little, so that a sentence cut by
a border is found from either side.
"""

import re
import unicodedata
from collections.abc import Iterator

from core.text import is_blank
from memories.embedding.registry import ModelSpec

# What a character costs, in characters of Latin text: tokens per character of multilingual-e5-small on parallel
# texts (XQuAD), relative to English, rounded up.
_DENSE = 3.0
_MEDIUM = 1.5
_SHARED = 0.1  # of a passage is repeated at the start of the next one, where a sentence border allows it

# The best border is found in the last part of a passage: a paragraph, else a sentence, else a line or word.
_BORDERS = (
    re.compile(r"\n[ \t\r]*\n\s*"),
    re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？।॥؟۔።])[」』”’》）]*\s*|\n+"),
    re.compile(r"[\s\u200b、，,;；]+"),
)
_EARLIEST_BORDER = 0.5


def split_passages(text: str, spec: ModelSpec) -> list[str]:
    """`text` as passages of at most `spec.chunk_characters` characters (fewer in dense scripts), none of them blank.

    A text that fits is one passage, as it is. Blank text gives no passage.
    """
    spans = list(passage_spans(text, spec))
    if len(spans) == 1:
        return [] if is_blank(text) else [text]
    passages = (text[start:end].strip() for start, end in spans)
    return [passage for passage in passages if not is_blank(passage)]


def passage_spans(text: str, spec: ModelSpec) -> Iterator[tuple[int, int]]:
    """Start and end of each passage: together they cover `text`, each begins within or right after the one before."""
    start = 0
    while True:
        limit = _reach(text, start, spec.chunk_characters)
        if limit >= len(text):
            yield start, len(text)
            return
        end = _border(text, start, limit)
        yield start, end
        start = _overlap(text, start, end)


def _reach(text: str, start: int, budget: float) -> int:
    """The end of the longest passage from `start` that costs at most `budget`; always after `start`."""
    cost = 0.0
    for position in range(start, len(text)):
        cost += _cost(text[position])
        if cost > budget and position > start:
            return position
    return len(text)


def _cost(character: str) -> float:
    code = ord(character)
    if code < 0x0250:
        return 1.0
    # Kana, ideographs, Hangul and everything beyond the first plane (rare ideographs, emoji).
    if 0x2E80 <= code <= 0xD7FF or code >= 0xF900:
        return _DENSE
    return _MEDIUM


def _border(text: str, start: int, limit: int) -> int:
    """Where to end a passage that may reach `limit`: at the best border in its later part."""
    earliest = start + int((limit - start) * _EARLIEST_BORDER)
    for pattern in _BORDERS:
        best = max((match.end() for match in pattern.finditer(text, earliest, limit)), default=0)
        if best > earliest:
            return best
    return _between_characters(text, earliest, limit)


def _between_characters(text: str, earliest: int, limit: int) -> int:
    """`limit`, moved back so that no combining mark or joined sequence is cut, unless that takes it too far."""
    for position in range(limit, earliest, -1):
        if not _continues(text, position):
            return position
    return limit


def _continues(text: str, position: int) -> bool:
    """Whether the character at `position` belongs to the one before it."""
    character = text[position]
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me")
        or character in "\u200c\u200d"
        or text[position - 1] == "\u200d"
        or 0x1F3FB <= ord(character) <= 0x1F3FF
    )


def _overlap(text: str, start: int, end: int) -> int:
    """Where the passage after that from `start` to `end` begins: at a sentence or word border shortly before `end`."""
    earliest = end - max(1, int((end - start) * _SHARED))
    for pattern in _BORDERS[1:]:
        match = pattern.search(text, earliest, end)
        if match and earliest < match.end() < end:
            return match.end()
    return end
