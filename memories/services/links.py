"""Typed links between notes and facts of one project: making, taking back, and what one memory is linked to.

link_notes(access, new.id, old.id, "supersedes", note="Neues Angebot")    # and old is outdated from now on
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import Invalid, NotFound
from core.text import clean_line, clean_uuid, excerpt
from memories.models import MAXIMUM_NOTE, Edge, Memory, RelationType
from memories.note_models import NoteStatus
from memories.notes import locate_note
from memories.queries import locate_memory
from memories.services.embeddings import ActiveModel, model_or_none
from memories.services.forget import deactivate
from memories.services.note_writing import Wanted, apply_to, locked_note
from memories.services.record import recording
from memories.services.restore import bring_back
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel

MAXIMUM_LINKS = 500
_EXCERPT = 200
_BY_NAME = {relation.link_name: relation for relation in RelationType} | {"updates": RelationType.UPDATES}


@dataclass(frozen=True)
class Linked:
    """A link as it stands. `is_new` is False when only its note was replaced; `outdated` says that by this link the
    other end is outdated (a note) or forgotten (a fact)."""

    from_id: uuid.UUID
    to_id: uuid.UUID
    relation: RelationType
    note: str | None
    is_new: bool
    outdated: bool


@dataclass(frozen=True)
class Unlinked:
    """`unlinked` is False when there was no such link. `can_reactivate` says that the other end is still outdated or
    forgotten, as the link had made it; `reactivated` that it is no more."""

    unlinked: bool
    can_reactivate: bool = False
    reactivated: bool = False


@dataclass(frozen=True)
class Related:
    """A memory at the other end of a link; `title` is the beginning of the text of a fact, which has no `topic`."""

    id: uuid.UUID
    project: str
    title: str
    topic: str | None
    is_note: bool
    status: NoteStatus
    relation: RelationType
    outgoing: bool
    note: str | None


def parse_relation(name: object) -> RelationType:
    """A relation by its name, in any case. Raises `Invalid` that lists them."""
    relation = _BY_NAME.get(name.strip().lower()) if isinstance(name, str) else None
    if relation is None:
        allowed = ", ".join(known.link_name for known in RelationType)
        raise Invalid(f"relation_type must be one of {allowed}.")
    return relation


def link_notes(
    access: AccessContext, from_id: object, to_id: object, relation_type: str, *, note: str | None = None
) -> Linked:
    """Link two notes or facts of one project. Linked again, the note on the link is replaced, by none if none is given.

    `supersedes` makes the other end outdated (a note) or forgets it (a fact). Raises `Invalid` for the input,
    `NotFound` for either end, `AccessDenied` without the right to write.
    """
    start, end = clean_uuid(from_id, "from_entry_id"), clean_uuid(to_id, "to_entry_id")
    relation = parse_relation(relation_type)
    if start == end:
        raise Invalid("A note cannot be linked to itself.")
    note = clean_line(note, "note", maximum=MAXIMUM_NOTE, required=False) or None
    first, space = locate_active(access, start)
    second, other_space = locate_active(access, end)
    if space.id != other_space.id:
        raise Invalid(f"Both must be in one project; these are in “{space.key}” and “{other_space.key}”.")
    access.require(space, AccessLevel.READ_WRITE)
    with recording(access, space.id, f"Link “{_title(first)}” {relation.link_name} “{_title(second)}”") as record:
        _require_active(space, start, end)
        edge, is_new = Edge.objects.update_or_create(
            space_id=space.id,
            from_memory_id=start,
            to_memory_id=end,
            relation_type=relation,
            defaults={"note": note, "created_by_id": access.user_id},
        )
        record.relinked(start)
        outdated = relation is RelationType.UPDATES and outdate(access, space, end, by=start)
    return Linked(start, end, relation, edge.note, is_new, outdated)


def unlink_notes(
    access: AccessContext, from_id: object, to_id: object, relation_type: str, *, reactivate: bool = False
) -> Unlinked:
    """Take a link back. What `supersedes` had made outdated or forgotten stays so, unless `reactivate` is asked for.

    Raises `Invalid` for ids that are none, and `AccessDenied`; whatever is not there is no error.
    """
    start, end = clean_uuid(from_id, "from_entry_id"), clean_uuid(to_id, "to_entry_id")
    try:
        relation = parse_relation(relation_type)
        first, space = locate_memory(access, start)
    except (Invalid, NotFound):
        return Unlinked(unlinked=False)
    access.require(space, AccessLevel.READ_WRITE)
    model = model_or_none() if reactivate else None
    with recording(access, space.id, f"Unlink “{_title(first)}” {relation.link_name} {end}") as record:
        edges = Edge.objects.in_space(space).filter(from_memory_id=start, to_memory_id=end, relation_type=relation)
        if not edges.delete()[0]:
            return Unlinked(unlinked=False)
        record.relinked(start)
        if relation is not RelationType.UPDATES or not _is_superseded(space, end, by=start):
            return Unlinked(unlinked=True)
        if reactivate:
            reactivate_memory(access, space, end, model)
        return Unlinked(unlinked=True, can_reactivate=not reactivate, reactivated=reactivate)


def get_related(access: AccessContext, note_id: object) -> Sequence[Related]:
    """What a note or fact is linked to, in both directions, newest link first; at most 500 links. Two queries.

    Deleted notes are left out, outdated ones and forgotten facts are not. Raises `Invalid` and `NotFound`.
    """
    memory, space = locate_active(access, clean_uuid(note_id, "entry_id"))
    found: list[Related] = []
    with bound(space):
        for outgoing, this, other in ((True, "from_memory", "to_memory"), (False, "to_memory", "from_memory")):
            rows = Edge.objects.in_space(space).filter(**{f"{this}_id": memory.id}).select_related(f"{other}__topic")
            for edge in rows.order_by("-created_at", "id")[:MAXIMUM_LINKS]:
                end: Memory = getattr(edge, other)
                if end.is_note and not end.is_active:
                    continue
                found.append(_related(edge, end, space, outgoing=outgoing))
    return found


def locate_active(access: AccessContext, memory_id: uuid.UUID) -> tuple[Memory, SpaceAccess]:
    """A note that is not deleted, or a fact. Raises `NotFound`."""
    memory, space = locate_memory(access, memory_id)
    if memory.is_note and not memory.is_active:
        locate_note(access, memory_id)
    return memory, space


def _related(edge: Edge, end: Memory, space: SpaceAccess, *, outgoing: bool) -> Related:
    return Related(
        id=end.id,
        project=space.key,
        title=_title(end),
        topic=end.topic.path if end.topic else None,
        is_note=end.is_note,
        status=NoteStatus(end.status) if end.is_active else NoteStatus.OUTDATED,
        relation=RelationType(edge.relation_type),
        outgoing=outgoing,
        note=edge.note,
    )


def _title(memory: Memory) -> str:
    return memory.title or excerpt(" ".join(memory.text.split()), _EXCERPT)


def _require_active(space: SpaceAccess, *ids: uuid.UUID) -> None:
    rows = Memory.objects.in_space(space).filter(id__in=ids).select_for_update(of=("self",)).order_by("id")
    there = {row.id for row in rows if row.is_active or not row.is_note}
    for identifier in ids:
        if identifier not in there:
            raise NotFound(f"Memory {identifier} was deleted a moment ago.")


def outdate(
    access: AccessContext, space: SpaceAccess, memory_id: uuid.UUID, *, by: uuid.UUID, reason: str | None = None
) -> bool:
    """Within a recording, what superseding does: a note becomes outdated and is still found, a fact is forgotten."""
    memory = Memory.objects.in_space(space).get(id=memory_id)
    if memory.is_note:
        set_note_status(access, space, memory_id, NoteStatus.OUTDATED)
        return True
    deactivate(access, space, [memory_id], superseded_by=by, reason=reason)
    return True


def _is_superseded(space: SpaceAccess, memory_id: uuid.UUID, *, by: uuid.UUID) -> bool:
    memory = Memory.objects.in_space(space).filter(id=memory_id).first()
    if memory is None:
        return False
    if memory.is_note:
        return bool(memory.is_active and memory.status == NoteStatus.OUTDATED)
    return bool(not memory.is_active and memory.superseded_by_id == by)


def reactivate_memory(
    access: AccessContext, space: SpaceAccess, memory_id: uuid.UUID, model: ActiveModel | None
) -> None:
    """Within a recording, take back what superseding or forgetting did. Raises `NotFound` and `IntegrityError` as
    `bring_back` does."""
    if Memory.objects.in_space(space).notes().filter(id=memory_id).exists():
        set_note_status(access, space, memory_id, NoteStatus.CURRENT)
    else:
        bring_back(access, space, memory_id, model)


def set_note_status(access: AccessContext, space: SpaceAccess, note_id: uuid.UUID, status: NoteStatus) -> None:
    """Within a recording: give a note this status, as its next version when it had another one."""
    memory, place, _ = locked_note(space, note_id)
    with recording(access, space.id, "") as record:
        apply_to(access, record, space, memory, place, Wanted(status=status), None)
