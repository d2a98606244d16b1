"""Pages of lists: the clamped page/limit form of the MCP tools, and opaque cursors for REST."""

import base64
import binascii
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from django.db.models import Model, Q, QuerySet

from core.errors import Invalid

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)

DEFAULT_LIMIT = 10
MAXIMUM_LIMIT = 50
# Past this offset a page costs more to skip than to read; a cursor has no such limit.
MAXIMUM_PAGE = 100_000


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a list. `page` and `limit` are the values used after clamping; `total_count` counts all items."""

    items: Sequence[Item]
    page: int
    limit: int
    total_count: int


@dataclass(frozen=True)
class CursorPage(Generic[Item]):
    """One page of a list read by cursor; `next_cursor` is None on the last page."""

    items: Sequence[Item]
    next_cursor: str | None


def clamp_limit(limit: int) -> int:
    """A limit of 0 or less means the default of 10; more than 50 means 50."""
    return DEFAULT_LIMIT if limit <= 0 else min(limit, MAXIMUM_LIMIT)


def clamp_page(page: int) -> int:
    return min(max(page, 1), MAXIMUM_PAGE)


def encode_cursor(*position: str) -> str:
    """An opaque cursor for the last row's sort key."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, parts: int) -> list[str]:
    """The sort key a cursor was made of. Raises `Invalid` when the text is no cursor of this list."""
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        position = None
    if not isinstance(position, list) or len(position) != parts or not all(isinstance(p, str) for p in position):
        raise not_a_cursor()
    return position


def not_a_cursor() -> Invalid:
    """The refusal of a text that is no cursor of the list it was sent to."""
    return Invalid("cursor is not one that this list returned; leave it out to start from the first page.")


def _in_utc(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment.astimezone(UTC)


def keyset_page(rows: "QuerySet[Row]", *, moment: str, cursor: str | None, limit: int) -> CursorPage["Row"]:
    """A page of `rows`, newest `moment` first with the id settling equal times, after `cursor`. One query.

    Raises `Invalid` for a cursor that is none.
    """
    limit = clamp_limit(limit)
    if cursor:
        text, identifier = decode_cursor(cursor, 2)
        try:
            # A moment without an offset is none of ours; in UTC it is one that PostgreSQL can read.
            last_moment, last_id = _in_utc(text), uuid.UUID(identifier)
        except (ValueError, OverflowError):
            raise not_a_cursor() from None
        rows = rows.filter(Q(**{f"{moment}__lt": last_moment}) | Q(**{moment: last_moment, "id__lt": last_id}))
    found = list(rows.order_by(f"-{moment}", "-id")[: limit + 1])
    items = found[:limit]
    more = len(found) > limit
    return CursorPage(
        items=items,
        next_cursor=encode_cursor(getattr(items[-1], moment).isoformat(), str(items[-1].pk)) if more else None,
    )


def numbered_page(rows: "QuerySet[Row]", counted: "QuerySet[Row]", *, page: int, limit: int) -> Page["Row"]:
    """Page `page` of the ordered `rows`, both numbers clamped; `counted` is the same set in its cheapest form."""
    page, limit = clamp_page(page), clamp_limit(limit)
    start = (page - 1) * limit
    return Page(items=list(rows[start : start + limit]), page=page, limit=limit, total_count=counted.count())
