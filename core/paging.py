"""Pages of lists: the clamped page/limit form of the MCP tools, and opaque cursors for REST."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.errors import Invalid

Item = TypeVar("Item")

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
    except (ValueError, binascii.Error):
        position = None
    if not isinstance(position, list) or len(position) != parts or not all(isinstance(p, str) for p in position):
        raise Invalid("cursor is not one that this list returned; leave it out to start from the first page.")
    return position
