"""The form in which results leave the server, over MCP and REST alike: camelCase, nulls dropped, times with offset.

Each app keeps its own shapes in `wire.py`; a shape is built from a service's result by its `of` method.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

from core.text import excerpt_around


class WireModel(BaseModel):
    """Base of all shapes on the wire. `is_plain` shapes leave over MCP as they are written: snake_case, nulls kept."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)

    is_plain: ClassVar[bool] = False

    def dump(self) -> dict[str, Any]:
        """As JSON-ready data under its wire names; a null field is left out, an empty list is kept."""
        return self.model_dump(mode="json", by_alias=not self.is_plain, exclude_none=not self.is_plain)

    def rest_dump(self) -> dict[str, Any]:
        """As JSON-ready data of the REST API, where all shapes are alike: camelCase, nulls left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


# ISO 8601 in UTC with an explicit offset, as in 2026-03-01T12:00:00.123456+00:00.
Moment = Annotated[datetime, PlainSerializer(_iso, return_type=str)]

# Characters of stored text in one answer: about 15,000 tokens of English, well below what clients cut off at (25,000).
ANSWER_BUDGET = 60_000


class HasText(Protocol):
    """A shape with stored text in it; `text_truncated` is None while the text is whole."""

    text: str
    text_truncated: bool | None


def fit_texts(
    items: Sequence[HasText],
    budget: int = ANSWER_BUDGET,
    *,
    passage_of: Callable[[HasText], tuple[int, int] | None] = lambda item: None,
) -> None:
    """Cut the longest texts of an answer to excerpts, so that all texts together keep within `budget` characters.

    `passage_of` tells which part of a text matters, from where to where; else it is the beginning.
    """
    room, left = budget, len(items)
    longest = 0
    for length in sorted(len(item.text) for item in items):
        longest = max(room // left, 1)
        if length > longest:
            break
        room -= length
        left -= 1
    else:
        return
    for item in items:
        if len(item.text) > longest:
            item.text = excerpt_around(item.text, *(passage_of(item) or (0, 0)), longest)
            item.text_truncated = True
