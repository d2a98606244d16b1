"""The record: every change of memories becomes Version rows and one commit, in the transaction of the change.

    with recording(access, space.id, "Save a memory") as record:
        memory.save(force_insert=True)
        record.created(memory.id)          # record.changed(id) for one that was there

It stands in for `bound(space)`: it binds the space, and before any row is locked takes the lock of the space's history,
so that all writers lock in one order. A recording inside another one of the same space joins it: the outermost makes
the commit. What is written is read back from the rows at the end, so callers only say which memories they touched.
Whoever works for somebody else (a task) records as an `Actor`.
"""

import uuid
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, Prefetch, prefetch_related_objects
from django.utils import timezone

from accounts.models import User
from history.services.commits import KEY_TRAILER, SURFACE_TRAILER, Author, Commit, commit, lock
from memories.models import Edge, Memory, RelationType, Version
from memories.note_files import (
    TOPIC_FILE,
    FileEntry,
    FileLink,
    file_path,
    moment_text,
    render,
    render_topic,
)
from spaces.access import AccessContext
from spaces.isolation import bound
from spaces.models import Topic

_AT_ONCE = 500


@dataclass(frozen=True)
class Actor:
    """Who changes something, with which key and over which surface."""

    name: str
    email: str
    user_id: uuid.UUID | None
    key_id: uuid.UUID | None = None
    key_label: str = ""
    surface: str = "command"

    @classmethod
    def of(cls, access: AccessContext) -> "Actor":
        credential = access.credential
        return cls(
            name=access.display_name,
            email=access.email,
            user_id=access.user_id,
            key_id=credential.id,
            key_label=credential.label,
            surface=credential.surface,
        )


@dataclass
class Record:
    """What one operation has touched so far, and what its commit will say."""

    actor: Actor
    space_id: uuid.UUID
    message: str
    made: Commit | None = None
    _new: dict[uuid.UUID, None] = field(default_factory=dict)
    _versioned: dict[uuid.UUID, None] = field(default_factory=dict)
    _relinked: dict[uuid.UUID, None] = field(default_factory=dict)
    _topics: dict[uuid.UUID, None] = field(default_factory=dict)
    _removed: dict[str, None] = field(default_factory=dict)

    def created(self, *memory_ids: uuid.UUID) -> None:
        """These memories are new: their first version is 1. A new fact has no tags and no sources."""
        self._new.update(dict.fromkeys(memory_ids))
        self._versioned.update(dict.fromkeys(memory_ids))

    def changed(self, *memory_ids: uuid.UUID) -> None:
        """These memories say something else now, or became active or inactive: each gets its next version."""
        further = [identifier for identifier in memory_ids if identifier not in self._versioned]
        Memory.objects.filter(space_id=self.space_id, id__in=further).update(version=F("version") + 1)
        self._versioned.update(dict.fromkeys(further))

    def relinked(self, *memory_ids: uuid.UUID) -> None:
        """Links or sources of these memories changed: their files are written anew, as the same version."""
        self._relinked.update(dict.fromkeys(memory_ids))

    def remove(self, *paths: str) -> None:
        """These files tell of nothing that is stored."""
        self._removed.update(dict.fromkeys(paths))

    def topics(self, *topic_ids: uuid.UUID) -> None:
        """These topics are new, or have another name."""
        self._topics.update(dict.fromkeys(topic_ids))

    def touched(self) -> tuple[dict[Any, None], ...]:
        """What was touched so far."""
        return tuple(dict(touched) for touched in self._everything())

    def forget_all_but(self, before: tuple[dict[Any, None], ...]) -> None:
        """Take back what was touched since, with the rows that were rolled back."""
        for touched, kept in zip(self._everything(), before, strict=True):
            touched.clear()
            touched.update(kept)

    def _everything(self) -> tuple[dict[Any, None], ...]:
        return self._new, self._versioned, self._relinked, self._topics, self._removed

    @property
    def is_empty(self) -> bool:
        return not any(self._everything())


_current: ContextVar[Record | None] = ContextVar("current record", default=None)


@contextmanager
def recording(actor: AccessContext | Actor, space_id: uuid.UUID, message: str) -> Iterator[Record]:
    """Bind the space, wait for its history, and at the end write the versions and the commit of what was touched.

    `message` is the commit's; inside another recording of the space it is not used. Raises what the block raises, and
    then nothing is written.
    """
    outer = _current.get()
    if outer is not None and outer.space_id == space_id:
        before = outer.touched()
        try:
            # A savepoint, so that an error which the outer operation survives takes its rows with it.
            with bound(space_id):
                yield outer
        except BaseException:
            outer.forget_all_but(before)
            raise
        return
    with bound(space_id):
        lock(space_id)
        record = Record(Actor.of(actor) if isinstance(actor, AccessContext) else actor, space_id, message)
        token = _current.set(record)
        try:
            yield record
        finally:
            _current.reset(token)
        _write(record)


def recorded_rows(space_id: uuid.UUID, ids: Sequence[uuid.UUID], *, new: Container[uuid.UUID] = ()) -> list[Memory]:
    """Memories with everything their files tell: four queries, or two when all of them are `new` facts."""
    links = Edge.objects.filter(space_id=space_id).select_related("created_by").order_by("created_at", "id")
    rows = list(
        Memory.objects.filter(space_id=space_id, id__in=ids)
        .select_related("topic", "created_by", "updated_by")
        .prefetch_related(Prefetch("outgoing", queryset=links, to_attr="links_out"))
        .order_by("id")
    )
    for memory in rows:
        memory.is_bare = not memory.is_note and memory.id in new
    prefetch_related_objects([memory for memory in rows if not memory.is_bare], "tags", "sources")
    return rows


def entry_of(memory: Memory) -> FileEntry:
    """A memory of `recorded_rows` as its file tells it."""
    links: list[Edge] = memory.links_out  # type: ignore[attr-defined]
    return FileEntry(
        id=memory.id,
        text=memory.text,
        title=memory.title,
        topic=memory.topic.path if memory.topic else None,
        slug=memory.slug,
        category=memory.category,
        source=memory.source,
        document=str(memory.document_id) if memory.document_id else None,
        tags=[] if memory.is_bare else [tag.name for tag in memory.tags.all()],
        sources=[] if memory.is_bare else [str(source) for source in memory.sources.all()],
        links=[
            FileLink(
                relation=RelationType(edge.relation_type).link_name,
                to=edge.to_memory_id,
                note=edge.note,
                created_at=moment_text(edge.created_at),
                created_by=person(edge.created_by),
            )
            for edge in links
        ],
        status=memory.status,
        follow_up=memory.follow_up_status,
        version=memory.version,
        created_at=moment_text(memory.created_at),
        created_by=person(memory.created_by),
        created_via=memory.created_via,
        updated_at=moment_text(memory.updated_at),
        updated_by=person(memory.updated_by),
    )


def person(user: User | None) -> str | None:
    """A person as files name them."""
    return f"{user.display_name} <{user.email}>" if user is not None else None


def topic_file(path: str) -> str:
    """Where the name of a topic is kept."""
    return f"{path}/{TOPIC_FILE}"


def _write(record: Record) -> None:
    if record.is_empty:
        return
    ids = list(record._versioned | record._relinked)
    rows: list[Memory] = []
    for start in range(0, len(ids), _AT_ONCE):
        rows += recorded_rows(record.space_id, ids[start : start + _AT_ONCE], new=record._new)
    now = timezone.now()
    before = _former_paths(record.space_id, [identifier for identifier in ids if identifier not in record._new])
    entries = {memory.id: entry_of(memory) for memory in rows}
    paths = {memory.id: file_path(entries[memory.id]) if memory.is_active else "" for memory in rows}
    # Where they stood before; by now another note may stand where a deleted one did.
    files: dict[str, bytes | None] = {path: None for path in (*record._removed, *before.values()) if path}
    files.update({paths[memory.id]: render(entries[memory.id]) for memory in rows if memory.is_active})
    for topic in Topic.objects.filter(space_id=record.space_id, id__in=record._topics):
        files[topic_file(topic.path)] = render_topic(topic.name)
    actor = record.actor
    record.made = commit(
        record.space_id,
        files,
        author=Author(actor.name, actor.email),
        message=record.message,
        trailers={**({KEY_TRAILER: actor.key_label} if actor.key_label else {}), SURFACE_TRAILER: actor.surface},
        moment=now,
    )
    Version.objects.bulk_create(
        Version(
            space_id=record.space_id,
            memory_id=memory.id,
            number=memory.version,
            title=memory.title,
            text=memory.text if memory.is_note else None,
            path=paths[memory.id],
            commit=record.made.oid if record.made else "",
            created_by_id=actor.user_id,
            created_by_key_id=actor.key_id,
            created_via=actor.surface,
            created_at=now,
        )
        for memory in rows
        if memory.id in record._versioned
    )


def _former_paths(space_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Where the files of these memories stood until now; empty for what had been taken away."""
    if not ids:
        return {}
    rows = Version.objects.filter(space_id=space_id, memory_id__in=ids).order_by("memory_id", "-number")
    return dict(rows.distinct("memory_id").values_list("memory_id", "path"))
