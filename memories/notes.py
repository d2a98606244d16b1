"""What can be asked about notes: one by id, lists, what is open, versions, sources that are known.

page = list_notes(access, project="ferienhaus", topic="estrich")
note = read_note(access, page.items[0].id)
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from core.errors import Conflict, Invalid, NotFound
from core.paging import CursorPage, clamp_limit, keyset_page
from core.text import clean_uuid
from memories.models import Memory, MemoryQuerySet, MemoryTag, SourceRef, Version
from memories.note_models import FollowUp, NoteStatus
from memories.services.note_fields import Source, clean_source_ref, clean_source_type, clean_status, clean_tags
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel, SpaceOwnedQuerySet, Topic
from spaces.services.topics import find_topic
from spaces.slugs import parse_optional_path

MAXIMUM_REFS = 1_000
DEFAULT_VERSIONS = 20
MAXIMUM_VERSIONS = 200


@dataclass(frozen=True)
class Note:
    """A note as it is. `topic` is the path that, with the title, names it for writing; `project` is its space's key."""

    id: uuid.UUID
    project: str
    topic: str
    topic_name: str
    title: str
    slug: str
    text: str
    status: NoteStatus
    follow_up: FollowUp | None
    tags: Sequence[str]
    sources: Sequence[Source]
    version: int
    created_at: datetime
    created_by: str | None
    updated_at: datetime
    updated_by: str | None


@dataclass(frozen=True)
class NoteVersion:
    """What a memory said after one of its changes; `text` is None for a fact, whose text never changes.

    `topic` is None where it was deleted, and for facts. `commit` is empty when nothing in the history differed.
    """

    id: uuid.UUID
    number: int
    title: str | None
    topic: str | None
    text: str | None
    is_deleted: bool
    commit: str
    created_at: datetime
    created_by: str | None
    key_label: str | None
    surface: str


@dataclass(frozen=True)
class TopicSummary:
    """A topic with the number of current notes in it and in everything below it."""

    id: uuid.UUID
    path: str
    name: str
    depth: int
    note_count: int
    total_count: int


class NoteConflict(Conflict):
    """The note has changed since the caller read it: `current` is what it says now, `rejected_text` was not stored."""

    def __init__(self, current: Note, *, expected: int, rejected_title: str | None, rejected_text: str | None) -> None:
        who = f" by {current.updated_by}" if current.updated_by else ""
        super().__init__(
            f"The note was changed{who} in the meantime: it is at version {current.version}, your change was made for "
            f"version {expected}. Read it again, join both texts, and send that with version {current.version}."
        )
        self.current = current
        self.expected = expected
        self.rejected_title = rejected_title
        self.rejected_text = rejected_text


def named(rows: MemoryQuerySet) -> MemoryQuerySet:
    """Notes with everything that `note_of` tells: three queries."""
    return rows.select_related("topic", "created_by", "updated_by").prefetch_related("tags", "sources")


def note_of(memory: Memory, space: SpaceAccess) -> Note:
    """A row of `named` as a note."""
    if memory.topic is None or memory.title is None or memory.slug is None:
        raise NotFound(f"Memory {memory.id} is no note.")
    return Note(
        id=memory.id,
        project=space.key,
        topic=memory.topic.path,
        topic_name=memory.topic.name,
        title=memory.title,
        slug=memory.slug,
        text=memory.text,
        status=NoteStatus(memory.status),
        follow_up=FollowUp(memory.follow_up_status) if memory.follow_up_status else None,
        tags=tuple(tag.name for tag in memory.tags.all()),
        sources=tuple(Source(source.type, source.ref) for source in memory.sources.all()),
        version=memory.version,
        created_at=memory.created_at,
        created_by=memory.created_by.display_name if memory.created_by else None,
        updated_at=memory.updated_at,
        updated_by=memory.updated_by.display_name if memory.updated_by else None,
    )


def locate_note(
    access: AccessContext,
    note_id: object,
    *,
    field: str = "entry_id",
    level: AccessLevel = AccessLevel.READ,
    deleted: bool = False,
) -> tuple[Memory, SpaceAccess]:
    """One note with its space, looked for in all spaces of the caller; with `deleted`, also a deleted one. One query.

    Raises `Invalid` for what is no id, `NotFound` when the caller has no such note, `AccessDenied` below `level`.
    """
    identifier = clean_uuid(note_id, field)
    with bound(access):
        rows = Memory.objects.in_any_space(access).filter(id=identifier, slug__isnull=False)
        memory: Memory | None = (rows if deleted else rows.filter(is_active=True)).select_related("topic").first()
    space = access.space_by_id(memory.space_id) if memory is not None else None
    if memory is None or space is None:
        raise NotFound(f"Note {identifier} was not found or is not accessible with this key.")
    access.require(space, level)
    return memory, space


def read_note(access: AccessContext, note_id: object) -> Note:
    """One note of any space the caller may read. Raises `Invalid` and `NotFound`."""
    memory, space = locate_note(access, note_id)
    return reload_note(space, memory.id)


def reload_note(space: SpaceAccess, note_id: uuid.UUID) -> Note:
    """A note that was there a moment ago, as it is now. Raises `NotFound`."""
    with bound(space):
        memory = named(Memory.objects.in_space(space).notes()).filter(id=note_id).first()
        if memory is None:
            raise NotFound(f"Note {note_id} was deleted a moment ago.")
        return note_of(memory, space)


def list_notes(
    access: AccessContext,
    *,
    project: str | None,
    topic: str | None = None,
    status: str | None = "current",
    tags: Sequence[str] | None = None,
    deleted: bool = False,
    cursor: str | None = None,
    limit: int = 0,
) -> CursorPage[Note]:
    """Notes of a project, or of a topic and everything below it, last changed first.

    `status` None means any; `tags` narrows to notes with one of them; `deleted` lists deleted notes instead. Five
    queries at most. Raises `NotFound` for project and topic, `Invalid` for the rest.
    """
    space = access.space(project)
    wanted = clean_status(status) if status is not None else None
    names = clean_tags(tags) if tags else []
    with bound(space):
        rows = Memory.objects.in_space(space).filter(slug__isnull=False, is_active=not deleted)
        # Blank means the whole project; slashes alone name no topic.
        if topic is not None and topic.strip():
            place = find_topic(space, topic)
            rows = rows.filter(topic__in=Topic.objects.in_space(space).at_or_below(place.path))
        if wanted is not None:
            rows = rows.filter(status=wanted)
        if names:
            rows = rows.filter(id__in=with_any_tag(space, names))
        return _page(named(rows), access, cursor, limit)


def with_any_tag(space: SpaceAccess, names: Sequence[str]) -> QuerySet[MemoryTag, Any]:
    """Ids of the memories that have one of these tags, for a subquery."""
    return MemoryTag.objects.in_space(space).filter(name__in=names).values("memory_id")


def list_open(
    access: AccessContext, *, project: str | None = None, cursor: str | None = None, limit: int = 0
) -> CursorPage[Note]:
    """Notes with something left to do, outdated ones too, last changed first: of a project or of all. Three queries."""
    space = access.space(project) if project is not None else None
    with bound(space or access):
        rows = Memory.objects.in_space(space) if space else Memory.objects.in_any_space(access)
        return _page(named(rows.notes().filter(follow_up_status__isnull=False)), access, cursor, limit)


def _page(rows: MemoryQuerySet, access: AccessContext, cursor: str | None, limit: int) -> CursorPage[Note]:
    page = keyset_page(rows, moment="updated_at", cursor=cursor, limit=clamp_limit(limit))
    spaces = {space.id: space for space in access.spaces}
    notes = [note_of(memory, spaces[memory.space_id]) for memory in page.items if memory.space_id in spaces]
    return CursorPage(notes, page.next_cursor)


def note_history(access: AccessContext, note_id: object, *, limit: int = DEFAULT_VERSIONS) -> Sequence[NoteVersion]:
    """The newest versions of a note, newest first; at most 200. Raises `Invalid` and `NotFound`."""
    if limit < 1:
        raise Invalid("limit must be at least 1.")
    memory, space = locate_note(access, note_id)
    with bound(space):
        return [version_of(row) for row in _versions(space, memory)[: min(limit, MAXIMUM_VERSIONS)]]


def note_version(access: AccessContext, note_id: object, number: int) -> NoteVersion:
    """One version of a note. Raises `NotFound` when the note has no such version."""
    memory, space = locate_note(access, note_id, deleted=True)
    with bound(space):
        row = _versions(space, memory).filter(number=number).first()
    if row is None:
        raise NotFound(f"Note {memory.id} has no version {number}; it is at version {memory.version}.")
    return version_of(row)


def _versions(space: SpaceAccess, memory: Memory) -> SpaceOwnedQuerySet:
    rows: SpaceOwnedQuerySet = Version.objects.in_space(space).filter(memory_id=memory.id)
    return rows.select_related("created_by", "created_by_key").order_by("-number")


def version_of(row: Version) -> NoteVersion:
    return NoteVersion(
        id=row.id,
        number=row.number,
        title=row.title,
        topic=row.path.rpartition("/")[0] if row.path and row.title is not None else None,
        text=row.text,
        is_deleted=not row.path,
        commit=row.commit,
        created_at=row.created_at,
        created_by=row.created_by.display_name if row.created_by else None,
        key_label=row.created_by_key.label if row.created_by_key else None,
        surface=row.created_via,
    )


def check_sources(
    access: AccessContext, *, source_type: str, refs: Sequence[str], project: str | None = None
) -> dict[str, bool]:
    """Which references are known: those that a note or memory which is still there came from. One query.

    In one project, or in all of the caller's. Raises `Invalid`.
    """
    if not isinstance(refs, Sequence) or isinstance(refs, str | bytes):
        raise Invalid("source_refs must be a list of references.")
    if len(refs) > MAXIMUM_REFS:
        raise Invalid(f"{len(refs):,} references were asked for, at most {MAXIMUM_REFS:,} are allowed.")
    kind = clean_source_type(source_type)
    cleaned = {ref: clean_source_ref(ref) for ref in refs}
    space = access.space(project) if project is not None else None
    if not cleaned:
        return {}
    with bound(space or access):
        rows = SourceRef.objects.in_space(space) if space else SourceRef.objects.in_any_space(access)
        rows = rows.filter(type=kind, ref__in=set(cleaned.values()), memory__is_active=True)
        known = set(rows.values_list("ref", flat=True))
    return {ref: plain in known for ref, plain in cleaned.items()}


def list_topics(access: AccessContext, *, project: str | None, topic: str | None = None) -> Sequence[TopicSummary]:
    """All topics of a project, or those at and below `topic`, by path, with the numbers of current notes. Two queries.

    Raises `NotFound` for project and topic.
    """
    space = access.space(project)
    with bound(space):
        rows = Topic.objects.in_space(space)
        if topic is not None and parse_optional_path(topic):
            rows = rows.at_or_below(find_topic(space, topic).path)
        counted = rows.annotate(
            number=Count("notes", filter=Q(notes__is_active=True, notes__status=NoteStatus.CURRENT))
        ).order_by("path")
        topics = list(counted)
    totals = {found.path: 0 for found in topics}
    for found in topics:
        parts = found.path.split("/")
        for end in range(1, len(parts) + 1):
            above = "/".join(parts[:end])
            if above in totals:
                totals[above] += found.number
    return [
        TopicSummary(found.id, found.path, found.name, found.path.count("/") + 1, found.number, totals[found.path])
        for found in topics
    ]


def note_counts(access: AccessContext) -> dict[uuid.UUID, int]:
    """How many current notes each of the caller's spaces has; spaces without any are left out. One query."""
    with bound(access):
        rows = Memory.objects.in_any_space(access).notes().filter(status=NoteStatus.CURRENT).order_by()
        return {row["space_id"]: row["number"] for row in rows.values("space_id").annotate(number=Count("id"))}
