"""Reading a model's answer: what cannot be used is dropped or cut, and only an answer without facts at all is refused.

facts = read_facts('{"facts": [{"text": "Clara lives in Porto.", …}]}', {candidate.id for candidate in candidates})
"""

import json
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from core.errors import Invalid
from core.text import clean_text, excerpt, is_blank
from memories.extraction.base import Fact, Relation
from memories.models import MAXIMUM_CATEGORY, MAXIMUM_MEMORY, MAXIMUM_NOTE, RelationType

# More facts than a text of the longest kind holds; a model that repeats itself stops here.
MOST_FACTS = 200
# Memories are also linked in other ways, but by people.
_TYPES = {
    member.name.casefold(): member for member in (RelationType.UPDATES, RelationType.EXTENDS, RelationType.DERIVES)
}


def read_facts(answer: str, known_ids: Collection[uuid.UUID]) -> list[Fact]:
    """The facts in an answer, in its order: none blank, none twice, relations only to `known_ids`.

    Raises `ValueError` when the answer is not one of facts.
    """
    read = _json_object(answer)
    listed = _get(read, "facts")
    if not isinstance(listed, list):
        raise ValueError("no list of facts")
    facts: dict[str, Fact] = {}
    for item in listed:
        fact = _fact(item, known_ids)
        if fact is not None:
            facts.setdefault(" ".join(fact.text.split()).casefold(), fact)
    return list(facts.values())[:MOST_FACTS]


def _json_object(answer: str) -> Mapping[str, Any]:
    """The object in an answer, which a model without a schema may have wrapped in words or a code block."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        read = json.loads(answer[start : end + 1])
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if start < 0 or not isinstance(read, Mapping):
        raise ValueError("no JSON object")
    return read


def _fact(item: Any, known_ids: Collection[uuid.UUID]) -> Fact | None:
    if not isinstance(item, Mapping):
        return None
    text = _line_or_none(_get(item, "text"), MAXIMUM_MEMORY)
    if text is None:
        return None
    listed = _get(item, "relations")
    relations: dict[tuple[uuid.UUID, RelationType], Relation] = {}
    for entry in listed if isinstance(listed, list) else []:
        relation = _relation(entry, known_ids)
        if relation is not None:
            relations.setdefault((relation.target, relation.type), relation)
    category = _line_or_none(_get(item, "category"), MAXIMUM_CATEGORY, one_line=True)
    return Fact(text=text, category=category, relations=tuple(relations.values()))


def _relation(entry: Any, known_ids: Collection[uuid.UUID]) -> Relation | None:
    if not isinstance(entry, Mapping):
        return None
    try:
        target = uuid.UUID(str(_get(entry, "existingMemoryId")).strip())
    except ValueError:
        return None
    relation_type = _TYPES.get(str(_get(entry, "relationType")).strip().casefold())
    if target not in known_ids or relation_type is None:
        return None
    return Relation(target, relation_type, _line_or_none(_get(entry, "note"), MAXIMUM_NOTE, one_line=True))


def _get(item: Mapping[str, Any], name: str) -> Any:
    """A property by its name in any case, as models write it."""
    if name in item:
        return item[name]
    return next((value for key, value in item.items() if str(key).casefold() == name.casefold()), None)


def _line_or_none(value: Any, maximum: int, *, one_line: bool = False) -> str | None:
    """A text as it may be stored, cut to `maximum`; None for what is blank or no text."""
    if not isinstance(value, str):
        return None
    try:
        # Composition to NFC can lengthen a text; that is cut as well.
        text = clean_text(value, "text", maximum=max(len(value) * 4, maximum), required=False)
    except Invalid:
        return None
    text = (" ".join(text.split()) if one_line else text).strip()
    return None if is_blank(text) else excerpt(text, maximum)
