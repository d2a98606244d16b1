"""Notes on the wire: over MCP as memory-service names its fields (snake_case, nulls kept), over REST in camelCase."""

from collections.abc import Sequence
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict

from accounts.models import User
from core.errors import Invalid
from core.paging import CursorPage
from core.text import excerpt
from core.wire import ANSWER_BUDGET, Moment, WireModel, fit_texts
from memories.entries import Fact
from memories.models import Memory
from memories.note_models import NoteStatus
from memories.notes import Note, NoteVersion
from memories.search.entries import FoundEntry
from memories.services.merge import Merged
from memories.services.note_fields import Source
from memories.services.notes import WrittenNote

StatusName = Literal["current", "outdated"]
FollowUpName = Literal["open", "waiting"]

# What is shown of an entry where its text is not.
EXCERPT = 300
_TITLE_OF_FACT = 200


class WireSource(WireModel):
    """Something outside that an entry came from."""

    is_plain = True

    type: str
    ref: str

    @classmethod
    def of(cls, source: Source) -> Self:
        return cls(type=source.type, ref=source.ref)


class WireEntry(WireModel):
    """A note in a list. `project`, `subtopic` and `title` name it for writing; a fact has no `slug` and `subtopic`."""

    is_plain = True

    id: UUID
    project: str
    subtopic: str | None = None
    title: str
    slug: str | None = None
    kind: Literal["note", "fact"]
    status: StatusName
    follow_up_status: FollowUpName | None = None
    tags: list[str]
    version: int
    updated_at: Moment
    updated_by: str | None = None

    @classmethod
    def of(cls, note: Note) -> Self:
        return cls(**_summary(note))


class WireEntryPage(WireModel):
    """One page of notes without their texts; `nextCursor` is left out on the last one."""

    items: list[WireEntry]
    next_cursor: str | None = None

    @classmethod
    def of(cls, page: CursorPage[Note]) -> Self:
        return cls(items=[WireEntry.of(note) for note in page.items], next_cursor=page.next_cursor)


class WireFoundEntry(WireEntry):
    """A note or a fact that was found; `score` (0 to 1) orders the answer and is null where tags were browsed."""

    score: float | None = None
    excerpt: str

    @classmethod
    def of_found(cls, found: FoundEntry) -> Self:
        memory = found.match.memory
        start = max((found.match.passage or (0, 0))[0] - EXCERPT // 4, 0)
        shown = excerpt(" ".join(memory.text[start : start + 2 * EXCERPT].split()), EXCERPT)
        return cls(**_summary_of_row(memory, found.project), score=found.score, excerpt="…" * bool(start) + shown)


class WireEntryDetail(WireEntry):
    """A note with its text, of which a long answer holds the beginning."""

    body_markdown: str
    text_truncated: bool | None = None

    @classmethod
    def of(cls, note: Note) -> Self:
        return cls(**_summary(note), body_markdown=note.text)

    @property
    def text(self) -> str:
        """The body, under the name by which answers are kept short."""
        return self.body_markdown

    @text.setter
    def text(self, text: str) -> None:
        self.body_markdown = text


def entries_of(notes: Sequence[Note]) -> list[WireEntryDetail]:
    """Notes with as much of their texts as an answer may hold."""
    entries = [WireEntryDetail.of(note) for note in notes]
    fit_texts(entries)
    return entries


class WireReadEntry(WireEntryDetail):
    """One note or fact with everything about it; a long text comes in parts, the next one from `next_offset` on."""

    sources: list[WireSource]
    created_at: Moment
    created_by: str | None = None
    next_offset: int | None = None

    @classmethod
    def of(cls, entry: Note | Fact) -> Self:
        sources = [WireSource.of(source) for source in entry.sources]
        if isinstance(entry, Note):
            created: dict[str, Any] = {"created_at": entry.created_at, "created_by": entry.created_by}
            return cls(**_summary(entry), body_markdown=entry.text, sources=sources, **created)
        memory = entry.memory
        created = {"created_at": memory.created_at, "created_by": _name(memory.created_by)}
        return cls(**_summary_of_row(memory, entry.project), body_markdown=memory.text, sources=sources, **created)

    def part(self, offset: int) -> Self:
        """The same with the part of its text that begins at `offset`. Raises `Invalid` beyond its end."""
        if offset < 0 or offset > len(self.body_markdown):
            raise Invalid(f"offset must be between 0 and {len(self.body_markdown)}, the length of the text.")
        end = offset + ANSWER_BUDGET
        more = end < len(self.body_markdown)
        return self.model_copy(
            update={
                "body_markdown": self.body_markdown[offset:end],
                "text_truncated": True if more or offset else None,
                "next_offset": end if more else None,
            }
        )


class WireRepointed(WireModel):
    """A source that belonged to another entry until now."""

    is_plain = True

    type: str
    ref: str
    former_entry_id: UUID
    former_title: str


class WireWrittenEntry(WireEntryDetail):
    """A note after a write. `former_title` was replaced by one of the same slug; `new_subtopics` were made for it."""

    created: bool
    changed: bool
    former_title: str | None = None
    repointed_sources: list[WireRepointed]
    new_subtopics: list[str]
    searchable_by_meaning: bool

    @classmethod
    def of_write(cls, written: WrittenNote, *, is_whole: bool = False) -> Self:
        entry = cls(
            **_summary(written.note),
            body_markdown=written.note.text,
            created=written.created,
            changed=written.changed,
            former_title=written.former_title,
            repointed_sources=[
                WireRepointed(
                    type=moved.source.type,
                    ref=moved.source.ref,
                    former_entry_id=moved.former_id,
                    former_title=moved.former_title,
                )
                for moved in written.repointed
            ],
            new_subtopics=list(written.new_topics),
            searchable_by_meaning=written.embedded,
        )
        if not is_whole:
            fit_texts([entry])
        return entry


class WireMergedEntry(WireEntryDetail):
    """The note that is left of several; those in `merged_ids` are outdated and superseded by it."""

    merged_ids: list[UUID]
    moved_links: int
    searchable_by_meaning: bool

    @classmethod
    def of_merge(cls, merged: Merged, *, is_whole: bool = False) -> Self:
        entry = cls(
            **_summary(merged.note),
            body_markdown=merged.note.text,
            merged_ids=list(merged.merged),
            moved_links=merged.moved_links,
            searchable_by_meaning=merged.embedded,
        )
        if not is_whole:
            fit_texts([entry])
        return entry


class WireVersion(WireModel):
    """What became of a note by one change; `git_commit_hash` is null when no file of the history differed."""

    is_plain = True

    id: UUID
    number: int
    title: str | None = None
    subtopic: str | None = None
    deleted: bool
    git_commit_hash: str | None = None
    created_at: Moment
    created_by: str | None = None
    key_label: str | None = None
    surface: str

    @classmethod
    def of(cls, version: NoteVersion) -> Self:
        return cls(**_version(version))


class WireVersionDetail(WireVersion):
    """A version with what the note said."""

    body_markdown: str

    @classmethod
    def of(cls, version: NoteVersion) -> Self:
        return cls(**_version(version), body_markdown=version.text or "")


class WireDeleted(WireModel):
    """A note that was deleted."""

    is_plain = True

    deleted: Literal[True] = True
    id: str


class WireKnownSources(WireModel):
    """Each reference that was asked for, and whether an entry came from it."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, bool]

    is_plain = True


def _summary(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "project": note.project,
        "subtopic": note.topic,
        "title": note.title,
        "slug": note.slug,
        "kind": "note",
        "status": note.status.value,
        "follow_up_status": note.follow_up.value if note.follow_up else None,
        "tags": list(note.tags),
        "version": note.version,
        "updated_at": note.updated_at,
        "updated_by": note.updated_by,
    }


def _summary_of_row(memory: Memory, project: str) -> dict[str, Any]:
    """Of a row with its topic, tags and last changer; a fact is titled by its beginning."""
    return {
        "id": memory.id,
        "project": project,
        "subtopic": memory.topic.path if memory.topic else None,
        "title": memory.title or excerpt(" ".join(memory.text[: 2 * _TITLE_OF_FACT].split()), _TITLE_OF_FACT),
        "slug": memory.slug,
        "kind": "note" if memory.is_note else "fact",
        "status": memory.status if memory.is_active else NoteStatus.OUTDATED.value,
        "follow_up_status": memory.follow_up_status,
        "tags": [tag.name for tag in memory.tags.all()],
        "version": memory.version,
        "updated_at": memory.updated_at,
        "updated_by": _name(memory.updated_by),
    }


def _name(person: User | None) -> str | None:
    return person.display_name if person else None


def _version(version: NoteVersion) -> dict[str, Any]:
    return {
        "id": version.id,
        "number": version.number,
        "title": version.title,
        "subtopic": version.topic,
        "deleted": version.is_deleted,
        "git_commit_hash": version.commit or None,
        "created_at": version.created_at,
        "created_by": version.created_by,
        "key_label": version.key_label,
        "surface": version.surface,
    }
