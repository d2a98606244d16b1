"""Restoring: a forgotten or superseded memory comes back into search, as what it was and with its own author.

restored = restore_memory(access, memory_id)
"""

import uuid
from dataclasses import dataclass

from django.db import IntegrityError
from django.utils import timezone

from core.errors import Conflict, NotFound
from memories.models import Memory, Resolution
from memories.queries import locate_memory
from memories.services.embeddings import ActiveModel, model_or_none, owe_embedding
from memories.services.queue import request_embedding
from memories.services.record import recording
from memories.services.statements import term_context
from memories.services.terms import add_terms, note_terms
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel


@dataclass(frozen=True)
class Restored:
    """The memory as it is now. `changed` is False when it was active already."""

    memory: Memory
    changed: bool


def restore_memory(access: AccessContext, memory_id: object, *, container_tag: str | None = None) -> Restored:
    """Bring a forgotten or superseded memory back. Its words are found at once, its meaning once it is embedded.

    Raises `NotFound` when the caller has no such memory, `AccessDenied` without the right to write to its space, and
    `Conflict` when the space has been told the same again in the meantime.
    """
    memory, space = locate_memory(access, memory_id, container_tag=container_tag, level=AccessLevel.READ_WRITE)
    model = model_or_none()
    try:
        with recording(access, space.id, "Restore a memory"):
            changed = bring_back(access, space, memory.id, model)
    except IntegrityError:
        raise told_again(space, memory) from None
    return Restored(memory=locate_memory(access, memory.id)[0], changed=changed)


def bring_back(access: AccessContext, space: SpaceAccess, memory_id: uuid.UUID, model: ActiveModel | None) -> bool:
    """Make a memory active again within the caller's recording; False when it is. The worker embeds it after that.

    A decision about a contested pair that took it out of search is taken back with it.

    Raises `NotFound` when it is gone, and `IntegrityError` when its text is active already as another memory.
    """
    rows = Memory.objects.in_space(space).select_related("created_by", "topic").select_for_update(of=("self",))
    memory: Memory | None = rows.filter(id=memory_id).first()
    if memory is None:
        raise NotFound(f"Memory {memory_id} was deleted a moment ago.")
    if memory.is_active:
        return False
    memory.is_active = True
    memory.superseded_by = memory.deactivated_by = memory.deactivated_at = None
    memory.deactivation_reason = ""
    memory.updated_by_id = access.user_id
    memory.updated_at = timezone.now()
    memory.save(
        update_fields=[
            "is_active", "superseded_by", "deactivated_by", "deactivated_at", "deactivation_reason", "updated_by",
            "updated_at",
        ]
    )  # fmt: skip
    withdraw_decisions(access, space, memory.id)
    owe_embedding(memory, model)
    author = memory.created_by.display_name if memory.created_by else ""
    add_terms(memory, space.language, [*term_context(author, memory.created_at), *note_terms(memory)])
    request_embedding()
    with recording(access, space.id, "Restore a memory") as record:
        record.changed(memory.id)
    return True


def withdraw_decisions(access: AccessContext, space: SpaceAccess, memory_id: uuid.UUID) -> None:
    """Within a transaction that makes a memory active again: decisions that had taken it out stand no more."""
    Resolution.objects.in_space(space).standing().filter(memory_id=memory_id).update(
        withdrawn_by_id=access.user_id, withdrawn_at=timezone.now()
    )


def told_again(space: SpaceAccess, memory: Memory) -> Conflict:
    """The refusal to restore a memory whose text is active as another one."""
    if memory.is_note:
        return Conflict(f"Another note has the title and the topic of note {memory.id} by now; rename that one first.")
    with bound(space):
        twin = Memory.objects.in_space(space).active().filter(content_hash=bytes(memory.content_hash)).first()
    if twin is None:
        return Conflict("The memory was not restored: the space changed at the same moment; try again.")
    return Conflict(f"Memory {twin.id} says the same already; there is nothing to restore.")
