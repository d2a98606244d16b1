"""Writing notes: by topic and title, by id, deleting, restoring. Each call is one commit of the space's history.

written = upsert_note(access, project="ferienhaus", topic="estrich", title="Trocknung", text="28 Tage.", tags=["bau"])
update_note(access, written.note.id, title="Trocknungszeit", expected_version=written.note.version)
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.errors import NotFound
from core.text import clean_line, excerpt
from memories.models import MAXIMUM_REASON, Memory, PendingEmbedding, Version
from memories.notes import Note, locate_note
from memories.services.embeddings import ActiveModel, model_or_none
from memories.services.forget import deactivate
from memories.services.note_fields import clean_title
from memories.services.note_words import embed_soon
from memories.services.note_writing import (
    Outcome,
    SourceInput,
    Wanted,
    apply_to,
    clean_wanted,
    create_in,
    locked_note,
    place_of,
    require_expected,
    require_free,
    reread,
)
from memories.services.record import recording
from memories.services.restore import bring_back
from memories.services.sources import Repointed
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel
from spaces.slugs import parse_topic_path


@dataclass(frozen=True)
class WrittenNote:
    """What a write did. `changed` is False when the note said all of that already.

    `former_title` is the title that was replaced by one of the same slug: title and topic name a note by its slug.
    `repointed` are sources that belonged to other notes until now, `new_topics` the paths that did not exist before,
    `embedded` is False while search by meaning cannot find the note yet.
    """

    note: Note
    created: bool
    changed: bool
    former_title: str | None = None
    repointed: Sequence[Repointed] = ()
    new_topics: Sequence[str] = ()
    embedded: bool = True


def upsert_note(
    access: AccessContext,
    *,
    project: str | None,
    topic: str | None,
    title: str,
    text: str,
    tags: Sequence[str] | None = None,
    sources: Sequence[SourceInput] | None = None,
    follow_up: str | None = None,
    status: str | None = None,
    expected_version: int | None = None,
) -> WrittenNote:
    """Write the note that topic and title name, or make it, with its topics; a blank topic is the inbox.

    None leaves tags, follow-up and status as they are; a list of tags, even an empty one, replaces the set; sources are
    added. `expected_version` refuses to write over a version the caller has not seen; 0 means the note must be new.

    Raises `NotFound` and `AccessDenied` for the project, `Invalid` for the input, `NoteConflict` for the version.
    """
    space = access.space(project, AccessLevel.READ_WRITE)
    wanted = clean_wanted(
        topic=parse_topic_path(topic),
        title=title,
        text=text,
        tags=tags,
        sources=sources,
        follow_up=follow_up,
        status=status,
        expected=expected_version,
    )
    model = model_or_none()
    with recording(access, space.id, f"Write “{wanted.title}”") as record:
        place, new_topics = place_of(record, space, wanted)
        rows = Memory.objects.in_space(space).notes().filter(topic=place, slug=wanted.slug)
        found = rows.select_for_update(of=("self",)).select_related("topic", "created_by").first()
        if found is None:
            if wanted.expected:
                raise NotFound(
                    f"There is no note “{excerpt(wanted.title or '', 80)}” in topic “{place.path}” any more."
                )
            outcome = create_in(access, record, space, place, wanted, model)
        else:
            outcome = apply_to(access, record, space, found, place, wanted, model)
            record.message = f"Update {place.path}/{found.slug}"
        outcome.new_topics = new_topics
        note = reread(space, outcome)
    return _written(space, outcome, note, model)


def update_note(
    access: AccessContext,
    note_id: object,
    *,
    title: str | None = None,
    text: str | None = None,
    topic: str | None = None,
    tags: Sequence[str] | None = None,
    sources: Sequence[SourceInput] | None = None,
    follow_up: str | None = None,
    status: str | None = None,
    expected_version: int | None = None,
) -> WrittenNote:
    """Change a note by its id: another title renames it, another topic moves it, and its history goes on.

    None leaves a field as it is; a list of tags replaces the set; sources are added; follow_up none clears it.

    Raises `NotFound`, `AccessDenied`, `Invalid`, `NoteConflict` for the version, and `Conflict` when another note has
    that title in that topic.
    """
    memory, space = locate_note(access, note_id, level=AccessLevel.READ_WRITE)
    wanted = clean_wanted(
        topic=parse_topic_path(topic) if topic is not None else None,
        title=title,
        text=text,
        tags=tags,
        sources=sources,
        follow_up=follow_up,
        status=status,
        expected=expected_version,
    )
    model = model_or_none()
    with recording(access, space.id, "Update") as record:
        current, former_place, slug = locked_note(space, memory.id)
        place, new_topics = place_of(record, space, wanted) if wanted.topic is not None else (former_place, [])
        before = f"{former_place.path}/{slug}"
        require_free(space, current, place, wanted.slug or slug)
        outcome = apply_to(access, record, space, current, place, wanted, model)
        outcome.new_topics = new_topics
        note = reread(space, outcome)
        after = f"{note.topic}/{note.slug}"
        record.message = f"Update {after}" if before == after else f"Move {before} to {after}"
    return _written(space, outcome, note, model)


def set_status(access: AccessContext, note_id: object, status: str) -> WrittenNote:
    """Mark a note as outdated, or as current again."""
    return update_note(access, note_id, status=status)


def set_follow_up(access: AccessContext, note_id: object, follow_up: str) -> WrittenNote:
    """Say what is left to do about a note: open, waiting, or none."""
    return update_note(access, note_id, follow_up=follow_up)


def delete_note(access: AccessContext, note_id: object, *, reason: str | None = None) -> uuid.UUID:
    """Take a note out of everything; `restore_note` brings it back. Returns its id.

    Raises `NotFound`, also for a note that is deleted already, and `AccessDenied`.
    """
    memory, space = locate_note(access, note_id, level=AccessLevel.READ_WRITE)
    reason = clean_line(reason, "reason", maximum=MAXIMUM_REASON, required=False)
    with recording(access, space.id, f"Delete “{memory.title}”"):
        if not deactivate(access, space, [memory.id], reason=reason):
            raise NotFound(f"Note {memory.id} was not found or is not accessible with this key.")
    return memory.id


def restore_note(
    access: AccessContext, note_id: object, *, version: int | None = None, expected_version: int | None = None
) -> WrittenNote:
    """Bring a deleted note back, or make what an older version said the newest version, or both.

    Raises `NotFound` for the note or the version, `AccessDenied`, `NoteConflict`, and `Conflict` when another note has
    its place now.
    """
    memory, space = locate_note(access, note_id, level=AccessLevel.READ_WRITE, deleted=True)
    model = model_or_none()
    with recording(access, space.id, f"Restore “{memory.title}”") as record:
        current, place, slug = locked_note(space, memory.id, deleted=True)
        wanted = Wanted(expected=expected_version)
        if version is not None:
            old = Version.objects.in_space(space).filter(memory_id=memory.id, number=version).first()
            if old is None:
                raise NotFound(f"Note {memory.id} has no version {version}; it is at version {current.version}.")
            title, slug = clean_title(old.title)
            wanted = replace(wanted, title=title, slug=slug, text=old.text or "")
            record.message = f"Restore version {version} of “{title}”"
        require_expected(space, current, wanted)
        require_free(space, current, place, wanted.slug or slug)
        was_deleted = not current.is_active
        if was_deleted:
            bring_back(access, space, current.id, model)
            current, place, slug = locked_note(space, memory.id)
        outcome = apply_to(access, record, space, current, place, replace(wanted, expected=None), model)
        outcome.changed = outcome.changed or was_deleted
        outcome.owes_embedding = outcome.owes_embedding or was_deleted
        note = reread(space, outcome)
    return _written(space, outcome, note, model)


def _written(space: SpaceAccess, outcome: Outcome, note: Note, model: ActiveModel | None) -> WrittenNote:
    is_embedded = embed_soon(outcome.memory, model) if outcome.owes_embedding else not _is_owed(space, note.id)
    return WrittenNote(
        note=note,
        created=outcome.created,
        changed=outcome.changed,
        former_title=outcome.former_title,
        repointed=tuple(outcome.repointed),
        new_topics=tuple(outcome.new_topics),
        embedded=is_embedded,
    )


def _is_owed(space: SpaceAccess, note_id: uuid.UUID) -> bool:
    with bound(space):
        return bool(PendingEmbedding.objects.in_space(space).filter(memory_id=note_id).exists())
