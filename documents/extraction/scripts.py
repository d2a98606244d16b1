"""What the writing systems ask of somebody who reads glyphs off a page: direction, letter shapes, missing blanks."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

# Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
# Scripts that write no blanks between words: Chinese and Japanese; Thai, Lao, Burmese, Khmer.
_IDEOGRAPH = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff]")
_UNSPACED_LETTER = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
# How many of them make a word, on average.
_IDEOGRAPHS_PER_WORD = 2
_LETTERS_PER_WORD = 4
# Latin ligatures, and the shapes that Hebrew and Arabic letters take inside a word: nobody searches for these.
_SHAPE = re.compile("[\ufb00-\ufdff\ufe70-\ufefc]")
_OPENING, _CLOSING = "([{<«", ")]}>»"
_MIRRORED = str.maketrans(_OPENING + _CLOSING, _CLOSING + _OPENING)


def is_right_to_left(text: str) -> bool:
    """Whether any letter of `text` is written from right to left."""
    return bool(_RIGHT_TO_LEFT.search(text))


def count_words(text: str) -> float:
    """How many words `text` holds, which has no blanks: one, or an estimate for scripts that never write blanks."""
    ideographs = len(_IDEOGRAPH.findall(text)) / _IDEOGRAPHS_PER_WORD
    letters = len(_UNSPACED_LETTER.findall(text)) / _LETTERS_PER_WORD
    return max(1.0, ideographs + letters)


def joins_without_blank(before: str, after: str) -> bool:
    """Whether no blank is written between these two pieces of a line, as in Chinese and Japanese."""
    return bool(_IDEOGRAPH.match(before[-1:]) and _IDEOGRAPH.match(after[:1]))


def plain_letters(text: str) -> str:
    """`text` with ligatures and presentation forms as the letters they stand for."""
    return _SHAPE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def spell(glyphs: Sequence[str]) -> str:
    """The word that these glyphs, from left to right, spell."""
    if not any(map(is_right_to_left, glyphs)):
        return "".join(glyphs)
    parts: list[str] = []
    # Numbers and foreign letters inside the word keep their direction.
    for keeps, run in groupby(reversed(glyphs), key=lambda glyph: glyph[0].isascii() and glyph[0].isalnum()):
        found = list(run)
        parts += reversed(found) if keeps else found
    word = "".join(parts)
    # Some programs name a bracket by its meaning, others by its look, which is the other way round here.
    wrong = word[0] in _CLOSING or word[-1] in _OPENING
    return word.translate(_MIRRORED) if wrong else word


def reading_sequence(words: Sequence[str]) -> list[int]:
    """The places of a line's words, which stand from left to right, in the order in which they are read.

    The inverse of the Unicode bidirectional algorithm as far as whole words go: the direction that most words have is
    the line's, and runs of the other direction inside it are turned.
    """
    leftward = [is_right_to_left(word) for word in words]
    order = list(range(len(words)))
    if not any(leftward):
        return order
    rightward = [not left and any(map(str.isalpha, word)) for left, word in zip(leftward, words, strict=True)]
    if sum(leftward) < sum(rightward):
        return _turn(order, inside=[not right for right in rightward], begins=leftward, ends=leftward)
    # A number beside a foreign word belongs to it: "Python 3" and not "3 Python".
    numbered = [right or any(map(str.isdigit, word)) for right, word in zip(rightward, words, strict=True)]
    order.reverse()
    return _turn(order, inside=[not left for left in leftward], begins=numbered, ends=rightward)


def _turn(order: list[int], *, inside: list[bool], begins: list[bool], ends: list[bool]) -> list[int]:
    """`order` with each run of words `inside` reversed, from the first that `begins` to the last that `ends` one."""
    turned: list[int] = []
    for is_run, group in groupby(order, key=inside.__getitem__):
        run = list(group)
        first = next((place for place, word in enumerate(run) if begins[word]), 0)
        end = max((place + 1 for place, word in enumerate(run) if ends[word]), default=0)
        if is_run and first < end:
            run[first:end] = reversed(run[first:end])
        turned += run
    return turned
