"""Deciding between two memories that contradict each other, with who decided, why and when; and taking it back.

resolve_contested(access, pair_id, decision="supersede", reason="The contract was renewed in May.")
reopen_contested(access, pair_id)
"""

import uuid

from django.db import IntegrityError
from django.utils import timezone

from core.errors import Conflict, Invalid, NotFound
from core.text import clean_line, clean_uuid
from memories.models import MAXIMUM_REASON, Decision, Edge, Memory, RelationType, Resolution
from memories.note_models import NoteStatus
from memories.services.embeddings import model_or_none
from memories.services.forget import deactivate
from memories.services.links import outdate, reactivate_memory
from memories.services.record import recording
from memories.services.restore import told_again
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel


def resolve_contested(
    access: AccessContext,
    pair_id: object,
    *,
    decision: str,
    reason: str,
    memory_id: object = None,
    container_tag: str | None = None,
) -> Resolution:
    """Decide about a contested pair; it leaves the list. `reopen_contested` takes it back.

    `keep_both` leaves both active, `supersede` takes the contested memory out of search in favour of the one that
    updates it (a note is found still, as outdated), `forget` takes out the one that `memory_id` names.

    Raises `Invalid` for the input, `NotFound` when the caller has no such pair, `AccessDenied` without the right to
    write to its space, and `Conflict` when somebody else has decided or one of the two is active no more.
    """
    chosen = _decision(decision)
    reason = clean_line(reason, "reason", maximum=MAXIMUM_REASON)
    edge, space = _locate(access, pair_id, container_tag)
    removed = _removed(edge, chosen, memory_id)
    with recording(access, space.id, f"Decide about a contested pair: {chosen.wire}"):
        _require_contested(space, edge, _lock(space, edge))
        if removed is not None:
            if chosen is Decision.SUPERSEDE:
                outdate(access, space, removed, by=edge.from_memory_id, reason=reason)
            else:
                deactivate(access, space, [removed], reason=reason)
        return Resolution.objects.create(
            space_id=space.id,
            edge=edge,
            decision=chosen,
            memory_id=removed,
            reason=reason,
            resolved_by_id=access.user_id,
            resolved_by_key_id=access.credential.id,
            resolved_via=access.credential.surface,
        )


def reopen_contested(
    access: AccessContext, pair_id: object, *, reason: str | None = None, container_tag: str | None = None
) -> Resolution:
    """Take back what was decided about a pair: a memory that it took out of search is restored.

    Raises `Invalid` for a reason that is too long, `NotFound` and `AccessDenied` as `resolve_contested` does, and
    `Conflict` when nothing stands to be taken back, or when the memory's text has been saved again in the meantime.
    """
    reason = clean_line(reason, "reason", maximum=MAXIMUM_REASON, required=False)
    edge, space = _locate(access, pair_id, container_tag)
    model = model_or_none()
    standing: Resolution | None = None
    try:
        with recording(access, space.id, "Reopen a contested pair"):
            _lock(space, edge)
            standing = _standing(space, edge)
            if standing is None:
                raise Conflict("Nothing was decided about this pair, so there is nothing to take back.")
            Resolution.objects.in_space(space).filter(id=standing.id).update(
                withdrawn_by_id=access.user_id, withdrawn_at=timezone.now(), withdrawn_reason=reason
            )
            if standing.memory_id is not None:
                reactivate_memory(access, space, standing.memory_id, model)
    except IntegrityError:
        if standing is None or standing.memory is None:
            raise
        raise told_again(space, standing.memory) from None
    return standing


def _decision(name: str) -> Decision:
    try:
        return Decision(name.strip().lower())
    except ValueError:
        raise Invalid(f"decision must be one of {', '.join(Decision.values)}.") from None


def _locate(access: AccessContext, pair_id: object, container_tag: str | None) -> tuple[Edge, SpaceAccess]:
    identifier = clean_uuid(pair_id, "pairId")
    named = access.space(container_tag) if container_tag is not None else None
    with bound(named or access):
        rows = Edge.objects.in_space(named) if named else Edge.objects.in_any_space(access)
        edge: Edge | None = rows.filter(id=identifier, relation_type=RelationType.UPDATES).first()
    space = access.space_by_id(edge.space_id) if edge is not None else None
    if edge is None or space is None:
        raise NotFound(f"Contested pair {identifier} was not found or is not accessible with this key.")
    access.require(space, AccessLevel.READ_WRITE)
    return edge, space


def _removed(edge: Edge, decision: Decision, memory_id: object) -> uuid.UUID | None:
    """The memory that a decision takes out of search."""
    if decision is Decision.FORGET:
        if memory_id is None:
            raise Invalid("memoryId must name the memory to forget: one of the pair.")
        identifier = clean_uuid(memory_id, "memoryId")
        if identifier not in (edge.from_memory_id, edge.to_memory_id):
            raise Invalid("memoryId must be one of the pair.")
        return identifier
    if memory_id is not None:
        raise Invalid("memoryId can only be given with the decision forget.")
    return edge.to_memory_id if decision is Decision.SUPERSEDE else None


def _lock(space: SpaceAccess, edge: Edge) -> list[Memory]:
    """Both memories, in the order in which forgetting locks them: whoever decides at the same time waits here."""
    rows = Memory.objects.in_space(space).select_related("updated_by").select_for_update(of=("self",))
    return list(rows.filter(id__in=[edge.from_memory_id, edge.to_memory_id]).order_by("id"))


def _standing(space: SpaceAccess, edge: Edge) -> Resolution | None:
    rows = Resolution.objects.in_space(space).standing().filter(edge_id=edge.id)
    standing: Resolution | None = rows.select_related("resolved_by", "memory").first()
    return standing


def _require_contested(space: SpaceAccess, edge: Edge, memories: list[Memory]) -> None:
    standing = _standing(space, edge)
    if standing is not None:
        who = standing.resolved_by.display_name if standing.resolved_by else "somebody"
        raise Conflict(
            f"This pair is decided already: {who} chose {standing.decision} on {standing.resolved_at:%d %B %Y}; "
            "reopen it to decide anew."
        )
    for memory in memories:
        who = memory.updated_by.display_name if memory.updated_by else "somebody"
        if not memory.is_active:
            raise Conflict(f"Memory {memory.id} is active no more, by {who}; nothing is contested.")
        if memory.id == edge.to_memory_id and memory.status == NoteStatus.OUTDATED:
            raise Conflict(f"Note {memory.id} is outdated already, by {who}; nothing is contested.")
