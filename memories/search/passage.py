"""Where in a long memory the question is met: the passage that an answer shows when it cannot show all of the text.

Passages are those that were embedded. Each is valued like a memory is: its cosine, stretched between the nearest and
the farthest passage of the memory, plus twice the share of the question's words that it holds.
"""

import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from django.db.backends.utils import CursorWrapper

from core.text import is_blank
from core.wire import ANSWER_BUDGET
from memories.embedding.passages import passage_spans
from memories.embedding.registry import ModelSpec
from memories.models import Memory
from memories.search.fusion import WEIGHT_OF_WORDS
from memories.search.legs import Meaning
from memories.search.results import SearchResult
from memories.services.terms import fold_umlauts, plain_words
from spaces.access import SpaceAccess

Span = tuple[int, int]

# Characters of a passage where no model says how long one is.
_PASSAGE = 900
# A stem and the word may differ in the last letter ("happi", "happy").
_SHORTEST_CUT_STEM = 5
# Terms of scripts without blanks stand anywhere; they are no longer than this.
_LONGEST_GRAM = 2

_CLOSENESS = """
SELECT e.memory_id, e.chunk, 1 - (e.embedding <=> %(vector)s::halfvec) FROM memories_embedding e
WHERE e.space_id = %(space)s AND e.model_id = %(model)s AND e.memory_id = ANY(%(memories)s)
"""


def too_long(result: SearchResult) -> list[Memory]:
    """Matches that the answer cannot show whole beside everything else in it."""
    shown = [match.memory for match in result.matches] + list(result.profile or ())
    shown += [related.memory for match in result.matches for related in match.related]
    if sum(len(memory.text) for memory in shown) <= ANSWER_BUDGET:
        return []
    share = ANSWER_BUDGET // len(shown)
    return [match.memory for match in result.matches if len(match.memory.text) > share]


def with_passages(result: SearchResult, long: Collection[Memory], find: Callable[[Memory], Span]) -> SearchResult:
    """`result` with the passages of those in `long`."""
    if not long:
        return result
    passages = {memory.id: find(memory) for memory in long}
    return replace(result, matches=[replace(match, passage=passages.get(match.memory.id)) for match in result.matches])


def read_closeness(
    cursor: CursorWrapper, space: SpaceAccess, meaning: Meaning | None, memories: Collection[Memory]
) -> Mapping[uuid.UUID, Mapping[int, float]]:
    """The cosine of each embedded passage of `memories` by its number; nothing for a memory that has none. One query,
    none without a vector."""
    closeness: defaultdict[uuid.UUID, dict[int, float]] = defaultdict(dict)
    if meaning is None or not memories:
        return closeness
    ids = [memory.id for memory in memories]
    cursor.execute(_CLOSENESS, {"vector": meaning.text, "space": space.id, "model": meaning.model_id, "memories": ids})
    for memory_id, chunk, cosine in cursor.fetchall():
        closeness[memory_id][chunk] = cosine
    return closeness


def best_passage(
    text: str, spec: ModelSpec | None, cosines: Mapping[int, float], terms: Mapping[str, float], literal: str = ""
) -> Span:
    """Start and end of the passage of `text` that meets a question best, the first one among equals.

    `terms` are the question's words as they are indexed, with their weights; `literal` wins where it stands as it is.
    """
    if literal:
        start = text.casefold().find(literal.casefold())
        if start >= 0:
            return start, start + len(literal)
    spans = _spans(text, spec)
    nearest, farthest = max(cosines.values(), default=0.0), min(cosines.values(), default=0.0)
    total = sum(terms.values()) or 1.0

    def value(number: int) -> float:
        start, end = spans[number]
        plain = " " + " ".join([fold_umlauts(word) for word in plain_words(text[start:end]).split()])
        share = sum(weight for term, weight in terms.items() if _holds(plain, term)) / total
        cosine = cosines.get(number, farthest)
        stretched = (cosine - farthest) / (nearest - farthest) if nearest > farthest else 0.0
        return stretched + WEIGHT_OF_WORDS * share

    return spans[max(range(len(spans)), key=lambda number: (value(number), -number))]


def _spans(text: str, spec: ModelSpec | None) -> Sequence[Span]:
    """As `split_passages` cuts and numbers them."""
    if spec is None:
        return [(start, min(start + _PASSAGE, len(text))) for start in range(0, max(len(text), 1), _PASSAGE)]
    spans = [(start, end) for start, end in passage_spans(text, spec) if not is_blank(text[start:end])]
    return spans or [(0, len(text))]


def _holds(plain: str, term: str) -> bool:
    if len(term) <= _LONGEST_GRAM and not term.isascii():
        return term in plain
    return f" {term[:-1] if len(term) >= _SHORTEST_CUT_STEM else term}" in plain
