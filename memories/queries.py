"""What can be asked about memories besides search: lists, profile, one by id."""

import uuid
from datetime import datetime

from django.db.models import OuterRef, Subquery

from core.errors import NotFound
from core.paging import CursorPage, Page, keyset_page, numbered_page
from core.text import clean_uuid, optional_line
from memories.models import MAXIMUM_CATEGORY, Memory, MemoryQuerySet
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel, Space

# The newest active memories that open a conversation, as in the reference system.
PROFILE_SIZE = 5


def _named(rows: MemoryQuerySet) -> MemoryQuerySet:
    """With the names of author, last changer and who forgot it in the same query."""
    return rows.select_related("created_by", "updated_by", "deactivated_by")


def list_memories(
    access: AccessContext, *, container_tag: str | None = None, page: int = 1, limit: int = 0
) -> Page[Memory]:
    """All memories of a space, forgotten ones too, newest first. Two queries."""
    space = access.space(container_tag)
    rows = Memory.objects.in_space(space)
    with bound(space):
        return numbered_page(_named(rows).newest_first(), rows, page=page, limit=limit)


def list_memories_after(
    access: AccessContext,
    *,
    container_tag: str | None = None,
    cursor: str | None = None,
    limit: int = 0,
    category: str | None = None,
    active: bool | None = None,
) -> CursorPage[Memory]:
    """As `list_memories`, read by cursor, so that every page costs the same. One query. Raises `Invalid`."""
    space = access.space(container_tag)
    rows = _named(Memory.objects.in_space(space))
    category = optional_line(category, "category", maximum=MAXIMUM_CATEGORY)
    if category is not None:
        rows = rows.filter(category=category)
    if active is not None:
        rows = rows.filter(is_active=active)
    with bound(space):
        return keyset_page(rows, moment="created_at", cursor=cursor, limit=limit)


def profile(space: SpaceAccess) -> list[Memory]:
    """The newest active memories of a space. One query."""
    with bound(space):
        return list(_named(Memory.objects.in_space(space).active().newest_first())[:PROFILE_SIZE])


def get_memory(access: AccessContext, memory_id: object) -> Memory:
    """One memory of any space the caller may read, forgotten or not. Raises `NotFound`."""
    return locate_memory(access, memory_id)[0]


def locate_memory(
    access: AccessContext,
    memory_id: object,
    *,
    container_tag: str | None = None,
    level: AccessLevel = AccessLevel.READ,
) -> tuple[Memory, SpaceAccess]:
    """One memory with its space, looked for in all spaces of the caller or in the one that is named. One query.

    Raises `NotFound` when the caller has no such memory, `AccessDenied` when the level on its space is below `level`.
    """
    identifier = clean_uuid(memory_id, "memoryId")
    named = access.space(container_tag) if container_tag is not None else None
    with bound(named or access):
        rows = Memory.objects.in_space(named) if named else Memory.objects.in_any_space(access)
        memory: Memory | None = _named(rows).filter(id=identifier).first()
    space = access.space_by_id(memory.space_id) if memory is not None else None
    if memory is None or space is None:
        raise NotFound(f"Memory {identifier} was not found or is not accessible with this key.")
    access.require(space, level)
    return memory, space


def last_activity(access: AccessContext) -> dict[uuid.UUID, datetime]:
    """When each readable space got its newest memory of any status; spaces without one are left out. One query."""
    newest = Memory.objects.filter(space_id=OuterRef("id")).order_by("-created_at", "-id").values("created_at")[:1]
    rows = Space.objects.filter(id__in=[space.id for space in access.spaces]).annotate(newest=Subquery(newest))
    with bound(access):
        return {identifier: moment for identifier, moment in rows.values_list("id", "newest") if moment is not None}
