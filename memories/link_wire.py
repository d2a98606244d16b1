"""Links between notes, similar notes, topics and projects on the wire: names as in `memories.note_wire`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self
from uuid import UUID

from core.wire import WireModel
from memories.note_models import NoteStatus
from memories.note_wire import StatusName
from memories.notes import Note, TopicSummary
from memories.services.links import Linked, Related, Unlinked
from memories.services.similar_notes import SimilarPair
from spaces.access import AccessContext
from spaces.services.projects import Project


class WireLink(WireModel):
    """A link as it stands."""

    is_plain = True

    from_entry_id: UUID
    to_entry_id: UUID
    relation_type: str
    note: str | None = None

    @classmethod
    def of(cls, linked: Linked) -> Self:
        return cls(
            from_entry_id=linked.from_id,
            to_entry_id=linked.to_id,
            relation_type=linked.relation.link_name,
            note=linked.note,
        )


class WireUnlinked(WireModel):
    """`can_reactivate`: the other entry is still outdated, as the link had made it; `reactivated`: it is no more."""

    is_plain = True

    unlinked: bool
    can_reactivate: bool
    reactivated: bool

    @classmethod
    def of(cls, done: Unlinked) -> Self:
        return cls(unlinked=done.unlinked, can_reactivate=done.can_reactivate, reactivated=done.reactivated)


class WireRelated(WireModel):
    """An entry at the other end of a link; `outgoing`: the entry that was asked about acts on it."""

    is_plain = True

    entry_id: UUID
    title: str
    project: str
    subtopic: str | None = None
    kind: Literal["note", "fact"]
    status: StatusName
    relation_type: str
    direction: Literal["outgoing", "incoming"]
    note: str | None = None

    @classmethod
    def of(cls, related: Related) -> Self:
        return cls(
            entry_id=related.id,
            title=related.title,
            project=related.project,
            subtopic=related.topic,
            kind="note" if related.is_note else "fact",
            status="current" if related.status is NoteStatus.CURRENT else "outdated",
            relation_type=related.relation.link_name,
            direction="outgoing" if related.outgoing else "incoming",
            note=related.note,
        )


class WireSimilarEntry(WireModel):
    """One note of a pair."""

    is_plain = True

    id: UUID
    title: str
    project: str
    subtopic: str

    @classmethod
    def of(cls, note: Note) -> Self:
        return cls(id=note.id, title=note.title, project=note.project, subtopic=note.topic)


class WireSimilarPair(WireModel):
    """Two notes that say much the same; `linked` tells that this call has linked them."""

    is_plain = True

    entry_a: WireSimilarEntry
    entry_b: WireSimilarEntry
    similarity: float
    linked: bool

    @classmethod
    def of(cls, pair: SimilarPair) -> Self:
        return cls(
            entry_a=WireSimilarEntry.of(pair.first),
            entry_b=WireSimilarEntry.of(pair.second),
            similarity=pair.similarity,
            linked=pair.linked,
        )


class WireTopic(WireModel):
    """A topic. `entry_count` counts the current notes in it, `total_count` also those in the topics below it."""

    is_plain = True

    id: UUID
    subtopic: str
    name: str
    entry_count: int
    total_count: int

    @classmethod
    def of(cls, topic: TopicSummary) -> Self:
        return cls(
            id=topic.id,
            subtopic=topic.path,
            name=topic.name,
            entry_count=topic.note_count,
            total_count=topic.total_count,
        )


class WireProject(WireModel):
    """A project; it is a space, and `slug` is its key."""

    is_plain = True

    id: UUID
    slug: str
    name: str
    sensitivity_level: Literal["low", "medium", "high"]
    description: str | None = None
    can_manage: bool

    @classmethod
    def of(cls, project: Project) -> Self:
        return cls(**_project(project))


class WireListedProject(WireProject):
    """A project with what the caller may do there and the number of its current notes."""

    access_level: Literal["Read", "ReadWrite"]
    is_default: bool
    entry_count: int

    @classmethod
    def of_all(cls, access: AccessContext, projects: Sequence[Project], counts: Mapping[UUID, int]) -> list[Self]:
        reached = {space.id: space for space in access.spaces}
        return [
            cls(
                **_project(project),
                access_level=reached[project.id].level.wire,
                is_default=reached[project.id].is_default,
                entry_count=counts.get(project.id, 0),
            )
            for project in projects
        ]


def _project(project: Project) -> dict[str, Any]:
    return {
        "id": project.id,
        "slug": project.key,
        "name": project.name,
        "sensitivity_level": project.sensitivity.value,
        "description": project.description or None,
        "can_manage": project.can_manage,
    }
