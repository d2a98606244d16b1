"""Forgetting: a memory is taken out of search and kept in the record, with who forgot it, when and why.

By id it is exact. By content it happens only when one memory is clearly meant; otherwise nothing changes and the
caller gets the candidates, since models cannot tell a paraphrase from its opposite (see `docs/embeddings.md`).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from core.text import clean_line, clean_text
from memories.embedding.confirm import is_same_statement
from memories.embedding.registry import ModelSpec
from memories.models import MAXIMUM_MEMORY, MAXIMUM_REASON, Memory
from memories.queries import locate_memory
from memories.search.service import similar_statements
from memories.services.embeddings import remove_embeddings
from memories.services.record import recording
from memories.services.terms import remove_terms
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel

# Candidates looked at, as in the reference system.
CANDIDATES = 3


@dataclass(frozen=True)
class ForgetCandidate:
    """A memory that may be meant. `similarity` is the cosine to the request, None when only its words were compared."""

    memory: Memory
    similarity: float | None


@dataclass(frozen=True)
class Forgotten:
    """What a forget did: the memories it took out, or, when none was clearly meant, the candidates to choose from."""

    memories: Sequence[Memory]
    candidates: Sequence[ForgetCandidate]
    degraded: Sequence[str] = ()


def forget_by_id(
    access: AccessContext, memory_id: object, *, container_tag: str | None = None, reason: str | None = None
) -> Forgotten:
    """Forget one memory, with the `reason` if one is given. Nothing is forgotten when it was forgotten before.

    Raises `NotFound` when the caller has no such memory, `AccessDenied` without the right to write to its space.
    """
    memory, space = locate_memory(access, memory_id, container_tag=container_tag, level=AccessLevel.READ_WRITE)
    return Forgotten(memories=deactivate(access, space, [memory.id], reason=reason), candidates=())


def forget_by_content(
    access: AccessContext, content: str, *, container_tag: str | None = None, reason: str | None = None
) -> Forgotten:
    """Forget the one memory of a space that says `content`; several active copies of exactly that text all go.

    Raises `Invalid`, `NotFound` and `AccessDenied` as a save does.
    """
    text = clean_text(content, "content", maximum=MAXIMUM_MEMORY)
    space = access.space(container_tag, AccessLevel.READ_WRITE)
    with bound(space):
        verbatim = list(Memory.objects.in_space(space).active().filter(text=text).values_list("id", flat=True))
    if verbatim:
        return Forgotten(memories=deactivate(access, space, verbatim, reason=reason), candidates=())
    degraded: tuple[str, ...] = ()
    similar = similar_statements(space, text, limit=CANDIDATES)
    candidates = [ForgetCandidate(memory=memory, similarity=similarity) for memory, similarity in similar.matches]
    if similar.spec is None:
        degraded = ("vector",)
    meant = [candidate for candidate in candidates if _is_clearly_meant(text, candidate, similar.spec)]
    if len(meant) == 1:
        return Forgotten(memories=deactivate(access, space, [meant[0].memory.id], reason=reason), candidates=())
    return Forgotten(memories=(), candidates=candidates, degraded=degraded)


def _is_clearly_meant(text: str, candidate: ForgetCandidate, spec: ModelSpec | None) -> bool:
    says_the_same = is_same_statement(text, candidate.memory.text)
    if spec is None or candidate.similarity is None:
        return says_the_same
    return candidate.similarity >= spec.forget_threshold or (
        says_the_same and candidate.similarity >= spec.confirm_threshold
    )


def deactivate(
    access: AccessContext,
    space: SpaceAccess,
    ids: Sequence[uuid.UUID],
    *,
    superseded_by: uuid.UUID | None = None,
    reason: str | None = None,
) -> list[Memory]:
    """Take the active ones of `ids` out of search, with who did it and why; returns them.

    `restore_memory` brings them back. Raises `Invalid` for a reason that is too long.
    """
    reason = clean_line(reason, "reason", maximum=MAXIMUM_REASON, required=False)
    with recording(access, space.id, f"Forget {len(ids)} memories" if len(ids) > 1 else "Forget a memory") as record:
        # By id, so that two callers who forget the same memories wait for each other instead of deadlocking.
        rows = list(Memory.objects.in_space(space).active().filter(id__in=ids).select_for_update().order_by("id"))
        mark_inactive(access, space, rows, superseded_by=superseded_by, reason=reason)
        remove_terms(space.id, rows)
        remove_embeddings(space.id, rows)
        record.changed(*[memory.id for memory in rows])
    return rows


def mark_inactive(
    access: AccessContext,
    space: SpaceAccess,
    rows: Sequence[Memory],
    *,
    superseded_by: uuid.UUID | None = None,
    reason: str = "",
) -> None:
    """Write to locked memories that they are out, who took them out and why; their words and vectors go separately."""
    now = timezone.now()
    Memory.objects.in_space(space).filter(id__in=[memory.id for memory in rows]).update(
        is_active=False,
        superseded_by=superseded_by,
        updated_by_id=access.user_id,
        updated_at=now,
        deactivated_by_id=access.user_id,
        deactivated_at=now,
        deactivation_reason=reason,
    )
