"""Whether two texts make the same statement, judged by their words alone.

Embedding models put "The meeting is at ten" and "The meeting is at nine" closer together than many a paraphrase, so
a forget acts only on what this function confirms. It errs towards False: a False costs a question back, a True of
something else costs a memory.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import OSA

# What people put before or after the statement they want forgotten.
_REQUESTS = (
    "forget that", "forget the fact that", "forget the memory that", "forget about", "forget",
    "delete the memory that", "remove the memory that", "delete the fact that", "remove the fact that",
    "vergiss dass", "vergiss bitte dass", "vergiss", "vergessen sie dass", "vergessen sie bitte dass",
    "oublie que", "oubliez que", "olvida que", "olvide que", "dimentica che", "esqueça que", "vergeet dat",
)  # fmt: skip
_POLITE = ("please", "bitte", "s'il te plaît", "s'il vous plaît", "por favor", "per favore", "alsjeblieft")
# Scripts without blanks: the request is the beginning of the first word.
_ATTACHED_REQUESTS = ("请忘记", "请忘掉", "忘记", "忘掉", "請忘記", "忘記")

# Inside a word or number these belong to it ("don't", "10:15", "e-mail", "v1.2", "1/2").
_JOINERS = {"'": "'", "’": "'", "ʼ": "'", "-": "-", "‐": "-", "‑": "-", "–": "-", ".": ".", "/": "/", "_": "_"}
_DIGIT_JOINERS = {",": ",", ":": ":", "٫": "٫", "٬": "٬"}
# Punctuation that carries meaning; the rest of category Po (full stops, commas, question marks …) does not.
_MEANINGFUL = frozenset("#%&@*\\/§†‰‱′″")
_QUOTES = frozenset("\"'")

# Below this length a changed letter usually makes another word (from/form, desert/dessert).
_SHORTEST_FOR_TYPO = 8
_SHORTEST_FOR_PLURAL = 4
# One slip is a slip; two are another statement.
_SLIPS = 1


def is_same_statement(content: str, memory_text: str) -> bool:
    """Whether `content`, a request to forget, says just what `memory_text` says.

    True only when the same words, numbers and symbols come in the same order, apart from case, punctuation, the
    article "the", words of request such as "please forget that", and at most one slip: a plural s, two letters swapped
    or a letter doubled in a long word that is no name.
    """
    memory = _words(memory_text)
    if not memory:
        return False
    return any(_agree(request, memory) for request in _without_request(_words(content)))


def _agree(left: Sequence[str], right: Sequence[str]) -> bool:
    left, right = _without_articles(left), _without_articles(right)
    if len(left) != len(right) or not left:
        return False
    different = [(a, b) for a, b in zip(left, right, strict=True) if a.lower() != b.lower()]
    return len(different) <= _SLIPS and all(_is_slip(a, b) for a, b in different)


def _is_slip(left: str, right: str) -> bool:
    """Whether two words differ as one word and its misspelling or plural do. Names and numbers never do."""
    if not (left.isalpha() and right.isalpha() and left.islower() and right.islower()):
        return False
    shorter, longer = sorted((left, right), key=len)
    if longer == shorter + "s":
        return len(shorter) >= _SHORTEST_FOR_PLURAL and not shorter.endswith("s")
    if len(shorter) < _SHORTEST_FOR_TYPO or shorter[0] != longer[0] or shorter[-1] != longer[-1]:
        return False
    if OSA.distance(shorter, longer) != 1:
        return False
    if len(shorter) == len(longer):
        return sorted(shorter) == sorted(longer)
    return _without_doubles(shorter) == _without_doubles(longer)


def _without_doubles(word: str) -> str:
    return re.sub(r"(.)\1+", r"\1", word)


def _without_articles(words: Sequence[str]) -> list[str]:
    """Without "the" before another word; capitalised inside a sentence it is part of a name and stays."""
    last = len(words) - 1
    return [
        word
        for number, word in enumerate(words)
        if number == last or not (word == "the" or (word == "The" and not number))
    ]


def _without_request(words: list[str]) -> Iterator[list[str]]:
    """`words` as they are, and again without the words that only ask to forget them."""
    yield words
    words = _strip_polite(words)
    yield words
    for phrase in _REQUEST_WORDS:
        if _starts_with(words, phrase):
            rest = _strip_polite(words[len(phrase) :])
            yield rest
            if rest and rest[0].lower() in ("that", "dass"):
                yield rest[1:]
            return
    for prefix in _ATTACHED_REQUESTS:
        if words and words[0].startswith(prefix):
            rest_of_word = words[0][len(prefix) :]
            yield ([rest_of_word] if rest_of_word else []) + words[1:]
            return


def _strip_polite(words: list[str]) -> list[str]:
    for phrase in _POLITE_WORDS:
        if _starts_with(words, phrase):
            words = words[len(phrase) :]
        if len(words) > len(phrase) and [word.lower() for word in words[-len(phrase) :]] == phrase:
            words = words[: -len(phrase)]
    return words


def _starts_with(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return [word.lower() for word in words[: len(phrase)]] == phrase


def _words(text: str) -> list[str]:
    """The words, numbers and meaningful symbols of `text` in order; blanks, quotes and full stops are left out."""
    text = _plain(text)
    words: list[str] = []
    position = 0
    while position < len(text):
        end = _end_of_word(text, position)
        if end > position:
            words.append("".join(_JOINERS.get(character, character) for character in text[position:end]))
            position = end
            continue
        if _is_meaningful(text, position):
            words.append(text[position])
        position += 1
    return words


def _plain(text: str) -> str:
    """Composed, with full-width forms as ordinary ones, without invisible format characters."""
    plain = []
    for character in unicodedata.normalize("NFC", text):
        if unicodedata.category(character) == "Cf":
            continue
        wide = unicodedata.decomposition(character).startswith(("<wide>", "<narrow>"))
        plain.append(unicodedata.normalize("NFKC", character) if wide else character)
    return unicodedata.normalize("NFC", "".join(plain))


def _end_of_word(text: str, position: int) -> int:
    """The end of the word or number that begins at `position`; `position` itself when none does."""
    if not _in_word(text[position]):
        return position
    while position < len(text):
        character, following = text[position], text[position + 1 : position + 2]
        joins = character in _JOINERS and bool(following) and _in_word(following)
        joins = joins or (character in _DIGIT_JOINERS and text[position - 1].isdigit() and following.isdigit())
        if not (_in_word(character) or joins):
            break
        position += 1
    return position


def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def _is_meaningful(text: str, position: int) -> bool:
    """Whether a character outside of words changes what is said."""
    character = text[position]
    category = unicodedata.category(character)
    following = text[position + 1 : position + 2]
    if character == "!":
        # "a != b" and "!flag" are code, "Tea!" is not.
        return following == "=" or bool(following and _in_word(following))
    if category == "Po":
        return character in _MEANINGFUL
    if category in ("Pi", "Pf") or character in _QUOTES:
        return False
    return category[0] in "PS" or category == "Co"


_REQUEST_WORDS = sorted((_words(phrase) for phrase in _REQUESTS), key=len, reverse=True)
_POLITE_WORDS = [_words(phrase) for phrase in _POLITE]
_POLITE_WORDS = [[word.lower() for word in phrase] for phrase in _POLITE_WORDS]
