"""Whether the rows of a space and the tree of its history say the same, and making them, either way.

report = check_rows(access, space)
repair_history(access, space)      # one commit brings the tree to what the rows say
repair_rows(access, space)         # the rows follow the tree
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from django.db import IntegrityError

from core.errors import AppError, Conflict
from history import store
from history.objects import blob_id
from history.queries import list_files
from history.services.commits import lock
from memories.models import Memory, Version
from memories.note_files import (
    TOPIC_FILE,
    FileEntry,
    file_path,
    parse,
    parse_topic,
    render,
    render_topic,
)
from memories.services.embeddings import ActiveModel, model_or_none
from memories.services.entries import Desk
from memories.services.queue import request_embedding
from memories.services.record import entry_of, recorded_rows, recording, topic_file
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import Topic

MAXIMUM_TOLD = 100
_AT_ONCE = 500


@dataclass
class RowsReport:
    """What was compared, and how it differs: paths that only rows or only the tree have, and those that say different
    things. `unreadable` are files that are no memory."""

    files: int = 0
    missing: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        return not (self.missing or self.surplus or self.different or self.unreadable)


@dataclass(frozen=True)
class _Standing:
    """The files of HEAD, and what the rows would have there: the id of a memory or a topic by path."""

    report: RowsReport
    blobs: Mapping[str, str]
    memories: Mapping[str, uuid.UUID]
    topics: Mapping[str, uuid.UUID]


def check_rows(space: SpaceAccess) -> RowsReport:
    """Compare every active memory and topic of a space with the files of its history. Changes nothing.

    People are not compared: a file names them as they were called then.
    """
    with bound(space):
        return _compare(space).report


def repair_history(access: AccessContext, space: SpaceAccess) -> RowsReport:
    """Bring the tree to what the rows say, in one commit; returns what differed before."""
    with recording(access, space.id, "Bring the history to what is stored") as record:
        standing = _compare(space)
        report = standing.report
        wanted = {*report.missing, *report.different}
        record.relinked(*(standing.memories[path] for path in wanted if path in standing.memories))
        record.topics(*(standing.topics[path] for path in wanted if path in standing.topics))
        record.remove(*report.surplus, *report.unreadable)
    return report


def repair_rows(
    access: AccessContext, space: SpaceAccess, *, topic_names: Mapping[str, str] | None = None
) -> RowsReport:
    """Make the rows follow the tree, with the people and times it tells; returns what differed before.

    What the tree does not have is forgotten. Raises `Conflict` when the tree holds what rows cannot hold.
    """
    return follow_tree(access, space, model_or_none())


def follow_tree(access: AccessContext, space: SpaceAccess, model: ActiveModel | None) -> RowsReport:
    """As `repair_rows`, with the model whose embeddings are owed; may be part of a larger transaction."""
    try:
        with bound(space):
            lock(space.id)
            standing = _compare(space)
            report = standing.report
            desk = Desk(access, space, model=model, keeps_attribution=True)
            desk.topic_names = dict(_topic_names(space, standing.blobs))
            for path in report.missing:
                if path in standing.memories:
                    desk.take_out(standing.memories[path], reason="not in the history")
            entries = list(
                _entries(space, {path: standing.blobs[path] for path in (*report.surplus, *report.different)})
            )
            for entry in entries:
                desk.put(entry)
            for entry in entries:
                desk.put_links(entry)
            for path, name in desk.topic_names.items():
                topic = desk.topic(path)
                Topic.objects.in_space(space).filter(id=topic.id).exclude(name=name).update(name=name)
            _note_versions(space, entries)
    except IntegrityError as error:
        raise Conflict(_collision(error)) from error
    request_embedding()
    return report


def _collision(error: IntegrityError) -> str:
    """Why rows cannot be what the files say."""
    broken = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    if broken == "memories_memory_pkey":
        return (
            "Memories of this history are in another space of this server already; it can only follow a history whose "
            "memories it does not have."
        )
    return f"The files of the history contradict each other: {str(error).splitlines()[0]}"


def _compare(space: SpaceAccess) -> _Standing:
    blobs = list_files(space.id)
    report = RowsReport(files=len(blobs))
    memories: dict[str, uuid.UUID] = {}
    topics: dict[str, uuid.UUID] = {}
    doubtful: dict[str, FileEntry] = {}
    ids = list(Memory.objects.in_space(space).active().order_by("id").values_list("id", flat=True))
    for start in range(0, len(ids), _AT_ONCE):
        for memory in recorded_rows(space.id, ids[start : start + _AT_ONCE]):
            entry = entry_of(memory)
            path = file_path(entry)
            memories[path] = memory.id
            if path not in blobs:
                report.missing.append(path)
            elif blobs[path] != blob_id(render(entry)):
                doubtful[path] = entry
    for topic in Topic.objects.in_space(space):
        path = topic_file(topic.path)
        topics[path] = topic.id
        if path not in blobs:
            report.missing.append(path)
        elif blobs[path] != blob_id(render_topic(topic.name)):
            report.different.append(path)
    report.surplus += sorted(blobs.keys() - memories.keys() - topics.keys())
    _judge(space, report, blobs, doubtful)
    return _Standing(report, blobs, memories, topics)


def _judge(space: SpaceAccess, report: RowsReport, blobs: Mapping[str, str], doubtful: Mapping[str, FileEntry]) -> None:
    """Files whose bytes differ may still say the same; and a file that is surplus may be no memory at all."""
    for path, data in _bodies(space, {path: blobs[path] for path in (*doubtful, *report.surplus)}):
        try:
            entry = parse(data, path) if not path.endswith(TOPIC_FILE) else None
        except AppError:
            report.unreadable.append(path)
            continue
        if path in doubtful and (entry is None or _plain(entry) != _plain(doubtful[path])):
            report.different.append(path)
    report.surplus = [path for path in report.surplus if path not in report.unreadable]


def _plain(entry: FileEntry) -> FileEntry:
    return replace(
        entry,
        document=None,
        tags=list(entry.tags),
        sources=list(entry.sources),
        links=[replace(link, created_by=None) for link in entry.links],
        created_by=None,
        updated_by=None,
    )


def _bodies(space: SpaceAccess, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    paths = sorted(blobs)
    for start in range(0, len(paths), _AT_ONCE):
        part = paths[start : start + _AT_ONCE]
        bodies = store.read_bodies(space.id, [bytes.fromhex(blobs[path]) for path in part])
        for path in part:
            yield path, bodies[bytes.fromhex(blobs[path])]


def _entries(space: SpaceAccess, blobs: Mapping[str, str]) -> Iterator[FileEntry]:
    for path, data in _bodies(space, blobs):
        if not path.endswith(TOPIC_FILE):
            yield parse(data, path)


def _topic_names(space: SpaceAccess, blobs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for path, data in _bodies(space, {path: blob for path, blob in blobs.items() if path.endswith("/" + TOPIC_FILE)}):
        name = parse_topic(data)
        if name:
            yield path.removesuffix("/" + TOPIC_FILE), name


def _note_versions(space: SpaceAccess, entries: list[FileEntry]) -> None:
    """The version a file tells has its row, so that the next one counts on from it."""
    Version.objects.bulk_create(
        (
            Version(
                space_id=space.id,
                memory_id=entry.id,
                number=max(entry.version, 1),
                title=entry.title,
                text=entry.text if entry.title is not None else None,
                path=file_path(entry),
                created_via="command",
            )
            for entry in entries
            if entry.id is not None
        ),
        ignore_conflicts=True,
    )
