"""What was pushed with git becomes changes of notes: all of it, or nothing with the reason.

A file is a note: its folder is the topic, its name comes from its title, its `id` says which note it is. Without an id
it is a new one, or the one that stands there. People, times and versions in a file are the server's and are not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.errors import AppError, Invalid
from core.text import excerpt
from memories.models import Edge, Memory, RelationType
from memories.note_files import FACTS_FOLDER, TOPIC_FILE, FileEntry, file_path, parse
from memories.services.embeddings import model_or_none
from memories.services.entries import Desk
from memories.services.links import link_notes, parse_relation, unlink_notes
from memories.services.note_fields import clean_title
from memories.services.queue import request_embedding
from memories.services.record import entry_of, recorded_rows, recording
from spaces.access import AccessContext, SpaceAccess
from spaces.models import Topic
from spaces.slugs import parse_optional_path, path_of


@dataclass(frozen=True)
class _Deleted:
    """A file that the push takes away, and the memory it tells of."""

    path: str
    memory: Memory


def apply_push(access: AccessContext, space: SpaceAccess, changes: Mapping[str, bytes | None], message: str) -> None:
    """Apply pushed files to the notes of a space, within the transaction that holds the lock of its history.

    Raises an `AppError` whose sentence names the file and what is wrong with it; then nothing of the push is stored.
    """
    deleted = [_deleted(space, path) for path, content in changes.items() if content is None]
    gone = {one.memory.id: one for one in deleted if one is not None}
    entries = {path: _read(space, path, content) for path, content in changes.items() if content is not None}
    kept = {entry.id for entry in entries.values()}
    _require_each_once(entries)
    model = model_or_none()
    with recording(access, space.id, message) as record:
        desk = Desk(access, space, record=record, model=model)
        for identifier in gone:
            if identifier not in kept:
                desk.take_out(identifier, reason="deleted by git push")
        for path, entry in entries.items():
            _require_moved(space, path, entry, changes)
            try:
                entries[path] = replace(entry, id=desk.put(entry).id)
            except AppError as error:
                raise Invalid(f"{excerpt(path, 200)}: {error.message}") from None
        for path, entry in entries.items():
            try:
                _relink(access, space, entry)
            except AppError as error:
                raise Invalid(f"{excerpt(path, 200)}: {error.message}") from None
        # A topic stays where its last note goes.
        for path in (path for path, content in changes.items() if content is None and _is_topic_file(path)):
            topic = Topic.objects.in_space(space).filter(path=path.removesuffix("/" + TOPIC_FILE)).first()
            if topic is not None:
                record.topics(topic.id)
    request_embedding()


def _is_topic_file(path: str) -> bool:
    return path.endswith("/" + TOPIC_FILE)


def _deleted(space: SpaceAccess, path: str) -> _Deleted | None:
    if _is_topic_file(path):
        return None
    memory = _memory_at(space, path)
    if memory is None:
        raise Invalid(f"“{excerpt(path, 200)}” tells of nothing that is stored here, so it cannot be deleted.")
    return _Deleted(path, memory)


def _memory_at(space: SpaceAccess, path: str) -> Memory | None:
    rows = Memory.objects.in_space(space).active()
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".md")
    if path.startswith(FACTS_FOLDER + "/"):
        try:
            found: Memory | None = rows.filter(id=stem, slug__isnull=True).first()
        except (ValueError, AppError):
            return None
        return found
    note: Memory | None = rows.filter(topic__space_id=space.id, topic__path=folder, slug=stem).first()
    return note


def _read(space: SpaceAccess, path: str, content: bytes) -> FileEntry:
    """A pushed file as the note it shall be: with its id where it is one that exists."""
    shown = excerpt(path, 200)
    if path.startswith(FACTS_FOLDER + "/"):
        raise Invalid(
            f"“{shown}” is in the folder of facts, which do not change; delete a file there to forget a fact, or write "
            "a note in a topic."
        )
    folder, _, name = path.rpartition("/")
    entry = parse(content, path)
    try:
        levels = parse_optional_path(folder)
        title, slug = clean_title(entry.title)
    except AppError as error:
        raise Invalid(f"{shown}: {error.message}") from None
    if not levels or path_of(levels) != folder:
        wanted = path_of(levels) or "a topic"
        raise Invalid(f"“{shown}” must stand in a folder of lower-case letters, digits and hyphens, such as {wanted}/.")
    if name != f"{slug}.md":
        raise Invalid(f"“{shown}” has the title “{excerpt(title, 80)}”, so it must be called {slug}.md.")
    there = _memory_at(space, path)
    if entry.id is None:
        return replace(entry, id=there.id if there is not None else None, title=title)
    known = Memory.objects.in_space(space).filter(id=entry.id).first()
    if known is None:
        raise Invalid(
            f"“{shown}” has the id {entry.id}, which is no note of this space; leave the id out of a new file."
        )
    if not known.is_note:
        raise Invalid(f"“{shown}” has the id of a fact; leave the id out of a new file.")
    return replace(entry, title=title)


def _require_each_once(entries: Mapping[str, FileEntry]) -> None:
    seen: dict[object, str] = {}
    for path, entry in entries.items():
        if entry.id is not None and seen.setdefault(entry.id, path) != path:
            raise Invalid(
                f"“{excerpt(path, 200)}” and “{excerpt(seen[entry.id], 200)}” have the same id; one is a copy."
            )


def _require_moved(space: SpaceAccess, path: str, entry: FileEntry, changes: Mapping[str, bytes | None]) -> None:
    """A note that stands elsewhere must be gone from there in this push: else the file is a copy of it."""
    if entry.id is None:
        return
    rows = [memory for memory in recorded_rows(space.id, [entry.id]) if memory.is_active]
    for memory in rows:
        former = file_path(entry_of(memory))
        if former != path and changes.get(former, b"") is not None:
            shown, there = excerpt(path, 200), excerpt(former, 200)
            raise Invalid(f"“{shown}” has the id of the note at “{there}”; leave the id out of a copy.")


def _relink(access: AccessContext, space: SpaceAccess, entry: FileEntry) -> None:
    """The links in a file are made and taken back as if by `link_notes` and `unlink_notes`."""
    wanted = {(parse_relation(link.relation), link.to): link.note for link in entry.links}
    standing = {
        (RelationType(edge.relation_type), edge.to_memory_id): edge.note
        for edge in Edge.objects.in_space(space).filter(from_memory_id=entry.id)
    }
    for relation, to in standing.keys() - wanted.keys():
        unlink_notes(access, entry.id, to, relation.link_name)
    for (relation, to), note in wanted.items():
        if standing.get((relation, to), ...) != note:
            link_notes(access, entry.id, to, relation.link_name, note=note)
