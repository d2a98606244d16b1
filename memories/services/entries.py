"""Files of a history as rows: what undo, pushes, repair and rebuilding share.

desk = Desk(access, space, record=record, model=model)        # within a recording: an edit by the caller
desk = Desk(access, space, keeps_attribution=True)            # nothing recorded: rows that only follow the files
desk.put(entry)                                               # the row says what the entry says
desk.put_links(entry)                                         # once every memory of the batch is there
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from accounts.models import User
from core.errors import Invalid
from documents.models import Document, Surface
from memories.models import Edge, Memory, RelationType, SourceRef
from memories.note_files import FileEntry, file_path
from memories.services.embeddings import ActiveModel, remove_embeddings
from memories.services.forget import mark_inactive
from memories.services.links import parse_relation
from memories.services.note_fields import clean_body, clean_follow_up, clean_status, clean_tags, parse_sources
from memories.services.note_words import embed_anew, index, index_anew
from memories.services.note_writing import require_free, set_tags
from memories.services.record import Record
from memories.services.restore import withdraw_decisions
from memories.services.sources import register_sources
from memories.services.statements import content_hash
from memories.services.terms import remove_terms
from spaces.access import AccessContext, SpaceAccess
from spaces.models import Topic
from spaces.services.topics import ensure_topic
from spaces.slugs import TopicLevel


@dataclass
class Desk:
    """Where entries become rows of one space, within a transaction that holds the lock of its history.

    With `keeps_attribution` a row gets the people, times and version its file tells; otherwise it is the caller's edit.
    `topic_names` are the names of topics by their path, for those that have to be made.
    """

    access: AccessContext
    space: SpaceAccess
    record: Record | None = None
    model: ActiveModel | None = None
    keeps_attribution: bool = False
    topic_names: Mapping[str, str] = field(default_factory=dict)
    _people: dict[str | None, uuid.UUID | None] = field(default_factory=dict)

    def put(self, entry: FileEntry) -> Memory:
        """Make the memory say what the entry says, and active; without an id, or with a new one, it is made.

        Raises `Invalid` for what cannot be stored, `Conflict` when another note stands in its place, and
        `IntegrityError` when a fact is active already as another memory.
        """
        memory = self._locked(entry.id) if entry.id is not None else None
        was_active = memory is not None and memory.is_active
        is_new = memory is None
        if memory is None:
            memory = Memory(id=entry.id or uuid.uuid4(), space_id=self.space.id, **self._made(entry))
        text_before, title_before = memory.text, memory.title
        memory.text = clean_body(entry.text)
        memory.is_active = True
        if entry.topic is not None:
            self._put_note_fields(memory, entry)
        else:
            memory.category, memory.source = entry.category, entry.source
            memory.content_hash = content_hash(memory.text, memory.category)
        memory.superseded_by = memory.deactivated_by = memory.deactivated_at = None
        memory.deactivation_reason = ""
        self._changed_by(memory, entry)
        memory.save(force_insert=is_new)
        self._put_tags(memory, entry)
        self._put_sources(memory, entry)
        if was_active:
            index_anew(memory, self.space.language)
        else:
            withdraw_decisions(self.access, self.space, memory.id)
            index(memory, self.space.language)
        if not was_active or (text_before, title_before) != (memory.text, memory.title):
            embed_anew(memory, self.model)
        if self.record is not None:
            (self.record.created if is_new else self.record.changed)(memory.id)
        return memory

    def put_links(self, entry: FileEntry) -> None:
        """Make the links from a memory those of its entry; links to memories that are not there are left out."""
        if entry.id is None:
            return
        wanted = {(parse_relation(link.relation), link.to): link for link in entry.links}
        rows = Edge.objects.in_space(self.space).filter(from_memory_id=entry.id)
        standing = {(RelationType(edge.relation_type), edge.to_memory_id): edge for edge in rows}
        there = set(
            Memory.objects.in_space(self.space).filter(id__in=[to for _, to in wanted]).values_list("id", flat=True)
        )
        differs = False
        for key, edge in standing.items():
            if key not in wanted:
                edge.delete()
                differs = True
            elif edge.note != wanted[key].note:
                Edge.objects.in_space(self.space).filter(id=edge.id).update(note=wanted[key].note)
                differs = True
        for (relation, to), link in wanted.items():
            if (relation, to) in standing or to not in there or to == entry.id:
                continue
            Edge.objects.create(
                space_id=self.space.id,
                from_memory_id=entry.id,
                to_memory_id=to,
                relation_type=relation,
                note=link.note,
                created_by_id=self.person(link.created_by) if self.keeps_attribution else self.access.user_id,
                created_at=_moment(link.created_at) if self.keeps_attribution else timezone.now(),
            )
            differs = True
        if differs and self.record is not None:
            self.record.relinked(entry.id)

    def take_out(self, memory_id: uuid.UUID, *, reason: str = "") -> bool:
        """Forget a memory (of a note: delete it); False when it is not active."""
        memory = self._locked(memory_id)
        if memory is None or not memory.is_active:
            return False
        mark_inactive(self.access, self.space, [memory], reason=reason)
        remove_terms(self.space.id, [memory])
        remove_embeddings(self.space.id, [memory])
        if self.record is not None:
            self.record.changed(memory_id)
        return True

    def put_forgotten(self, entry: FileEntry, version: int, email: str, moment: datetime) -> None:
        """Make a memory that the history only remembers: forgotten then, by the person with that address."""
        memory = Memory(id=entry.id, space_id=self.space.id, is_active=False, **self._made(entry))
        memory.text = clean_body(entry.text)
        memory.category, memory.source = entry.category, entry.source
        memory.content_hash = content_hash(memory.text, memory.category)
        if entry.topic is not None:
            self._put_note_fields(memory, entry)
        memory.version = version
        memory.updated_by_id = memory.deactivated_by_id = self.person(f"<{email}>")
        memory.updated_at = memory.deactivated_at = moment
        memory.save(force_insert=True)
        self._put_tags(memory, entry)

    def _locked(self, memory_id: uuid.UUID) -> Memory | None:
        rows = Memory.objects.in_space(self.space).select_for_update(of=("self",)).select_related("topic", "created_by")
        memory: Memory | None = rows.filter(id=memory_id).first()
        return memory

    def _made(self, entry: FileEntry) -> dict[str, object]:
        document = Document.objects.in_space(self.space).filter(id=_uuid(entry.document)).first()
        if not self.keeps_attribution:
            return {
                "created_by_id": self.access.user_id,
                "created_by_key_id": self.access.credential.id,
                "created_via": self.access.credential.surface,
                "document": document,
            }
        return {
            "created_by_id": self.person(entry.created_by),
            "created_via": entry.created_via if entry.created_via in Surface.values else Surface.COMMAND,
            "created_at": _moment(entry.created_at),
            "document": document,
        }

    def _changed_by(self, memory: Memory, entry: FileEntry) -> None:
        if self.keeps_attribution:
            memory.updated_by_id, memory.updated_at = self.person(entry.updated_by), _moment(entry.updated_at)
            memory.version = max(entry.version, 1)
        else:
            memory.updated_by_id, memory.updated_at = self.access.user_id, timezone.now()

    def _put_note_fields(self, memory: Memory, entry: FileEntry) -> None:
        if not entry.title or not entry.slug or not entry.topic:
            raise Invalid(f"{file_path(entry)} has no title.")
        place = self.topic(entry.topic)
        if memory.is_active:
            require_free(self.space, memory, place, entry.slug)
        memory.topic, memory.title, memory.slug = place, entry.title, entry.slug
        memory.status = clean_status(entry.status)
        memory.follow_up_status = clean_follow_up(entry.follow_up) if entry.follow_up is not None else None
        memory.content_hash = content_hash(memory.text, memory.title)

    def topic(self, path: str) -> Topic:
        """The topic at a path of slugs, made where it is missing."""
        slugs = path.split("/")
        levels: list[TopicLevel] = []
        for slug in slugs:
            above = "/".join(slugs[: len(levels) + 1])
            levels.append(TopicLevel(slug, self.topic_names.get(above) or slug.replace("-", " ").title()))
        ensured = ensure_topic(self.space, levels)
        if self.record is not None:
            self.record.topics(*(topic.id for topic in ensured.made))
        return ensured.topic

    def _put_tags(self, memory: Memory, entry: FileEntry) -> None:
        names = clean_tags(entry.tags)
        if names != [tag.name for tag in memory.tags.all()]:
            set_tags(memory, names)

    def _put_sources(self, memory: Memory, entry: FileEntry) -> None:
        wanted = parse_sources(entry.sources)
        for row in SourceRef.objects.in_space(self.space).filter(memory=memory):
            if (row.type, row.ref) not in {(source.type, source.ref) for source in wanted}:
                row.delete()
        register_sources(self.record, memory, wanted)

    def person(self, named: str | None) -> uuid.UUID | None:
        """The person that a file names, when there is still somebody with that address."""
        if named not in self._people:
            address = (named or "").rpartition("<")[2].removesuffix(">")
            user = User.objects.filter(email__iexact=address).first() if address else None
            self._people[named] = user.id if user is not None else None
        return self._people[named]


def _moment(text: str | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text) if text else timezone.now()
    except ValueError:
        raise Invalid(f"“{text}” is no point in time.") from None
    return moment if moment.tzinfo is not None else timezone.make_aware(moment)


def _uuid(text: str | None) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        return None
