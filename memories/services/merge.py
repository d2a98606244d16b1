"""Merging notes: one takes in what the others say, and the others are superseded by it. One commit.

merged = merge_notes(access, keep.id, [double.id])
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from core.errors import Conflict, Invalid
from core.text import clean_uuid
from memories.models import Edge, Memory, RelationType
from memories.note_models import NoteStatus
from memories.notes import Note, locate_note
from memories.services.embeddings import model_or_none
from memories.services.note_fields import Source, clean_body, clean_tags
from memories.services.note_words import embed_soon
from memories.services.note_writing import Wanted, apply_to, locked_note, reread
from memories.services.record import Record, recording
from spaces.access import AccessContext, SpaceAccess
from spaces.models import AccessLevel, Topic

MAXIMUM_MERGED = 20


@dataclass(frozen=True)
class Merged:
    """The note that is left, the ids of those it has taken in, and how many links were moved to it."""

    note: Note
    merged: Sequence[uuid.UUID]
    moved_links: int
    embedded: bool


def merge_notes(
    access: AccessContext, note_id: object, other_ids: Sequence[object], *, expected_version: int | None = None
) -> Merged:
    """Join the others' texts to that of the first, each under its title as a heading; unite tags, sources and links.

    The others stay readable, outdated and superseded by the first. Raises `Invalid` for the input, `NotFound`,
    `AccessDenied`, `NoteConflict` for the version of the first.
    """
    keep, space = locate_note(access, note_id, level=AccessLevel.READ_WRITE)
    if isinstance(other_ids, str | bytes) or not 1 <= len(other_ids) <= MAXIMUM_MERGED:
        raise Invalid(f"Between 1 and {MAXIMUM_MERGED} other notes can be merged into one at a time.")
    others = list(dict.fromkeys(clean_uuid(identifier, "other_entry_ids") for identifier in other_ids))
    if keep.id in others:
        raise Invalid("A note cannot be merged with itself.")
    for identifier in others:
        if locate_note(access, identifier)[1].id != space.id:
            raise Invalid(f"All notes must be in the project “{space.key}”.")
    model = model_or_none()
    with recording(access, space.id, f"Merge {len(others)} notes into “{keep.title}”") as record:
        memory, place, _ = locked_note(space, keep.id)
        taken = [locked_note(space, other)[:2] for other in others]
        wanted = Wanted(
            text=_joined(memory, [other for other, _ in taken]),
            tags=clean_tags([tag.name for note in (memory, *(other for other, _ in taken)) for tag in note.tags.all()]),
            sources=[Source(source.type, source.ref) for other, _ in taken for source in other.sources.all()],
            expected=expected_version,
        )
        outcome = apply_to(access, record, space, memory, place, wanted, model)
        moved = _move_links(record, space, keep.id, others)
        for double, topic in taken:
            _supersede(access, record, space, memory, double, topic)
        note = reread(space, outcome)
    return Merged(note, others, moved, embed_soon(outcome.memory, model))


def _joined(memory: Memory, others: Sequence[Memory]) -> str:
    parts = [memory.text.rstrip(), *(f"## {other.title}\n\n{other.text.strip()}" for other in others)]
    return clean_body("\n\n".join(part for part in parts if part), "the joined text")


def _move_links(record: Record, space: SpaceAccess, keep: uuid.UUID, others: Sequence[uuid.UUID]) -> int:
    """Links of the others with notes and facts outside of the merge become links of the one that stays."""
    inside = {keep, *others}
    edges = Edge.objects.in_space(space).filter(Q(from_memory_id__in=others) | Q(to_memory_id__in=others))
    standing = set(
        Edge.objects.in_space(space)
        .filter(Q(from_memory_id=keep) | Q(to_memory_id=keep))
        .values_list("from_memory_id", "to_memory_id", "relation_type")
    )
    moved = 0
    for edge in edges.order_by("created_at", "id"):
        if {edge.from_memory_id, edge.to_memory_id} <= inside:
            continue
        record.relinked(edge.from_memory_id)
        start = keep if edge.from_memory_id in inside else edge.from_memory_id
        end = keep if edge.to_memory_id in inside else edge.to_memory_id
        if (start, end, edge.relation_type) in standing:
            edge.delete()
            continue
        standing.add((start, end, edge.relation_type))
        edge.from_memory_id, edge.to_memory_id = start, end
        edge.save(update_fields=["from_memory", "to_memory"])
        record.relinked(start)
        moved += 1
    return moved


def _supersede(
    access: AccessContext, record: Record, space: SpaceAccess, memory: Memory, other: Memory, topic: Topic
) -> None:
    _, is_new = Edge.objects.get_or_create(
        space_id=space.id,
        from_memory=memory,
        to_memory=other,
        relation_type=RelationType.UPDATES,
        defaults={"note": "merged", "created_by_id": access.user_id},
    )
    if not is_new and other.status == NoteStatus.OUTDATED:
        raise Conflict(f"Note {other.id} was merged into this one before.")
    record.relinked(memory.id)
    apply_to(access, record, space, other, topic, Wanted(status=NoteStatus.OUTDATED), None)
