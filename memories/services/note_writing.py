"""How a note's rows change within a recording: what differs decides what is indexed, owed and recorded anew.

The services in `memories.services.notes` clean what callers want, open the recording, and call these.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from core.errors import Conflict, NotFound
from core.text import excerpt
from memories.models import Memory, MemoryTag
from memories.note_models import FollowUp, NoteStatus
from memories.notes import Note, NoteConflict, named, note_of
from memories.services.embeddings import ActiveModel, owe_embedding
from memories.services.note_fields import (
    Source,
    clean_body,
    clean_follow_up,
    clean_sources,
    clean_status,
    clean_tags,
    clean_title,
)
from memories.services.note_words import embed_anew, index, index_anew
from memories.services.record import Record
from memories.services.sources import Repointed, register_sources
from memories.services.statements import content_hash
from spaces.access import AccessContext, SpaceAccess
from spaces.models import Topic
from spaces.services.topics import ensure_topic
from spaces.slugs import TopicLevel

SourceInput = Source | Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What a note shall say, cleaned; None leaves a field as it is."""

    title: str | None = None
    slug: str | None = None
    text: str | None = None
    topic: Sequence[TopicLevel] | None = None
    tags: Sequence[str] | None = None
    sources: Sequence[Source] = ()
    status: NoteStatus | None = None
    follow_up: FollowUp | None = None
    sets_follow_up: bool = False
    expected: int | None = None


@dataclass
class Outcome:
    """What became of a note within the transaction."""

    memory: Memory
    created: bool = False
    changed: bool = False
    former_title: str | None = None
    repointed: list[Repointed] = field(default_factory=list)
    new_topics: list[str] = field(default_factory=list)
    owes_embedding: bool = False


def clean_wanted(
    *,
    title: str | None,
    text: str | None,
    tags: Sequence[str] | None,
    sources: Sequence[SourceInput] | None,
    follow_up: str | None,
    status: str | None,
    expected: int | None,
    topic: Sequence[TopicLevel] | None = None,
) -> Wanted:
    """What a caller wants, each field by its rule. Raises `Invalid`."""
    name, slug = clean_title(title) if title is not None else (None, None)
    return Wanted(
        title=name,
        slug=slug,
        text=clean_body(text) if text is not None else None,
        tags=clean_tags(tags) if tags is not None else None,
        sources=clean_sources(sources) if sources is not None else (),
        status=clean_status(status) if status is not None else None,
        follow_up=clean_follow_up(follow_up) if follow_up is not None else None,
        sets_follow_up=follow_up is not None,
        expected=expected,
        topic=topic,
    )


def place_of(record: Record, space: SpaceAccess, wanted: Wanted) -> tuple[Topic, list[str]]:
    """The topic that is wanted, and the paths that had to be made for it."""
    ensured = ensure_topic(space, wanted.topic or ())
    record.topics(*(topic.id for topic in ensured.made))
    return ensured.topic, [topic.path for topic in ensured.made]


def locked_note(space: SpaceAccess, note_id: uuid.UUID, *, deleted: bool = False) -> tuple[Memory, Topic, str]:
    """A note that others cannot change until the transaction ends, with its topic and slug. Raises `NotFound`."""
    rows = Memory.objects.in_space(space).select_related("topic", "created_by").select_for_update(of=("self",))
    memory: Memory | None = rows.filter(id=note_id).first()
    if memory is None or memory.topic is None or memory.slug is None or not (memory.is_active or deleted):
        raise NotFound(f"Note {note_id} was not found or is not accessible with this key.")
    return memory, memory.topic, memory.slug


def _again(space: SpaceAccess, note_id: uuid.UUID) -> Memory:
    row: Memory = named(Memory.objects.in_space(space)).get(id=note_id)
    return row


def reread(space: SpaceAccess, outcome: Outcome) -> Note:
    """The note as its rows say now, within the same transaction."""
    outcome.memory = _again(space, outcome.memory.id)
    return note_of(outcome.memory, space)


def require_expected(space: SpaceAccess, memory: Memory, wanted: Wanted) -> None:
    """Raises `NoteConflict` when the caller has not seen the version there is."""
    if wanted.expected is not None and wanted.expected != memory.version:
        raise NoteConflict(
            note_of(_again(space, memory.id), space),
            expected=wanted.expected,
            rejected_title=wanted.title,
            rejected_text=wanted.text,
        )


def require_free(space: SpaceAccess, memory: Memory, place: Topic, slug: str) -> None:
    """Raises `Conflict` when another note stands where this one shall stand."""
    rows = Memory.objects.in_space(space).notes().filter(topic=place, slug=slug).exclude(id=memory.id)
    other = rows.first()
    if other is not None:
        raise Conflict(
            f"A note “{excerpt(other.title or '', 80)}” with the name {slug} already exists in topic “{place.path}” "
            f"(id {other.id}); choose another title, or change that note."
        )


def create_in(
    access: AccessContext, record: Record, space: SpaceAccess, place: Topic, wanted: Wanted, model: ActiveModel | None
) -> Outcome:
    """A new note in a topic where none has its slug."""
    now = timezone.now()
    memory = Memory(
        space_id=space.id,
        topic=place,
        title=wanted.title,
        slug=wanted.slug,
        text=wanted.text or "",
        status=wanted.status or NoteStatus.CURRENT,
        follow_up_status=wanted.follow_up,
        content_hash=_hash(wanted.title, wanted.text),
        created_by_id=access.user_id,
        updated_by_id=access.user_id,
        created_by_key_id=access.credential.id,
        created_via=access.credential.surface,
        created_at=now,
        updated_at=now,
    )
    memory.save(force_insert=True)
    record.created(memory.id)
    record.message = f"Create {place.path}/{memory.slug}"
    set_tags(memory, wanted.tags or ())
    _, repointed = register_sources(record, memory, wanted.sources)
    owe_embedding(memory, model)
    index(memory, space.language)
    return Outcome(memory, created=True, changed=True, repointed=repointed, owes_embedding=True)


def apply_to(
    access: AccessContext,
    record: Record,
    space: SpaceAccess,
    memory: Memory,
    place: Topic,
    wanted: Wanted,
    model: ActiveModel | None,
) -> Outcome:
    """Make a locked, active note say what is wanted; what differs decides what is indexed, owed and recorded anew."""
    require_expected(space, memory, wanted)
    before = (memory.title, memory.text, memory.topic_id, memory.status, memory.follow_up_status)
    former = memory.title
    tags_differ = wanted.tags is not None and list(wanted.tags) != [tag.name for tag in memory.tags.all()]
    if wanted.title is not None:
        memory.title, memory.slug = wanted.title, wanted.slug
    if wanted.text is not None:
        memory.text = wanted.text
    if wanted.status is not None:
        memory.status = wanted.status
    if wanted.sets_follow_up:
        memory.follow_up_status = wanted.follow_up
    memory.topic = place
    after = (memory.title, memory.text, memory.topic_id, memory.status, memory.follow_up_status)
    if tags_differ:
        set_tags(memory, wanted.tags or ())
    sources_differ, repointed = register_sources(record, memory, wanted.sources)
    says_more = before[:2] != after[:2]
    outcome = Outcome(memory, repointed=repointed, owes_embedding=says_more)
    outcome.changed = before != after or tags_differ or sources_differ
    if not outcome.changed:
        return outcome
    if former != memory.title:
        outcome.former_title = former
    memory.content_hash = _hash(memory.title, memory.text)
    memory.updated_by_id = access.user_id
    memory.updated_at = timezone.now()
    memory.save(
        update_fields=[
            "title", "slug", "text", "topic", "status", "follow_up_status", "content_hash", "updated_by", "updated_at",
        ]
    )  # fmt: skip
    record.changed(memory.id)
    if says_more or tags_differ or before[2] != after[2]:
        index_anew(memory, space.language)
    if says_more:
        embed_anew(memory, model)
    return outcome


def set_tags(memory: Memory, names: Sequence[str]) -> None:
    """Make these the tags of a memory, in this order."""
    MemoryTag.objects.filter(space_id=memory.space_id, memory=memory).delete()
    MemoryTag.objects.bulk_create(
        MemoryTag(space_id=memory.space_id, memory=memory, name=name, position=position)
        for position, name in enumerate(names)
    )


def _hash(title: str | None, text: str | None) -> bytes:
    return content_hash(text or "", title)
