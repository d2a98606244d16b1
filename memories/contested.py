"""Contested pairs: a memory says to update another, mostly a colleague's, and both are still active.

A save never takes a colleague's memory out of search, so the contradiction stays until somebody decides
(`memories/services/contested.py`). What was decided can be asked for as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.paging import CursorPage, Page, keyset_page, numbered_page
from memories.models import Edge, EdgeQuerySet, Resolution
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound


@dataclass(frozen=True)
class Pair:
    """An edge whose `from_memory` says to update its `to_memory`, and what was decided, if anything stands."""

    edge: Edge
    resolution: Resolution | None


def list_contested(
    access: AccessContext, *, container_tag: str | None = None, resolved: bool = False, page: int = 1, limit: int = 0
) -> Page[Pair]:
    """The open pairs of a space, or those that are decided, newest edge first. At most three queries."""
    space = access.space(container_tag)
    with bound(space):
        rows = _rows(space, resolved=resolved)
        found = numbered_page(_joined(rows).order_by("-created_at", "-id"), rows, page=page, limit=limit)
        pairs = _pairs(space, found.items, resolved=resolved)
    return Page(items=pairs, page=found.page, limit=found.limit, total_count=found.total_count)


def list_contested_after(
    access: AccessContext,
    container_tag: str | None,
    *,
    resolved: bool = False,
    cursor: str | None = None,
    limit: int = 0,
) -> CursorPage[Pair]:
    """As `list_contested`, read by cursor. At most two queries. Raises `Invalid`."""
    space = access.space(container_tag)
    with bound(space):
        rows = _joined(_rows(space, resolved=resolved))
        found = keyset_page(rows, moment="created_at", cursor=cursor, limit=limit)
        pairs = _pairs(space, found.items, resolved=resolved)
    return CursorPage(items=pairs, next_cursor=found.next_cursor)


def _rows(space: SpaceAccess, *, resolved: bool) -> EdgeQuerySet:
    rows: EdgeQuerySet = Edge.objects.in_space(space)
    return rows.resolved() if resolved else rows.contested()


def _joined(rows: EdgeQuerySet) -> EdgeQuerySet:
    """With both memories and the names of all who had to do with them."""
    people = ("created_by", "updated_by", "deactivated_by")
    return rows.select_related(*(f"{end}__{person}" for end in ("from_memory", "to_memory") for person in people))


def _pairs(space: SpaceAccess, edges: Sequence[Edge], *, resolved: bool) -> list[Pair]:
    standing: dict[object, Resolution] = {}
    if resolved and edges:
        rows = Resolution.objects.in_space(space).standing().filter(edge_id__in=[edge.id for edge in edges])
        standing = {resolution.edge_id: resolution for resolution in rows.select_related("resolved_by")}
    return [Pair(edge=edge, resolution=standing.get(edge.id)) for edge in edges]
