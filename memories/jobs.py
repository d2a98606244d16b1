"""What can be asked about work that waits: how much, since when, and what failed and why."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q
from django.utils import timezone

from core.paging import clamp_limit
from documents.models import PendingDocument
from memories.models import PendingEmbedding
from spaces.access import AccessContext
from spaces.isolation import bound
from spaces.models import SpaceOwnedQuerySet


def running(now: datetime) -> Q:
    """Rows that a process works on right now."""
    return Q(failed_at__isnull=True, claimed_at__isnull=False, next_attempt_at__gt=now)


def failed() -> Q:
    """Rows that are set aside until somebody asks for a retry."""
    return Q(failed_at__isnull=False)


def waiting(now: datetime) -> Q:
    """All others: due, or due again later."""
    return ~running(now) & ~failed()


@dataclass(frozen=True)
class JobNumbers:
    """How many rows of one kind of work there are. `oldest_seconds` is the age of the oldest that is not failed."""

    waiting: int
    running: int
    failed: int
    oldest_seconds: int | None


@dataclass(frozen=True)
class FailedJob:
    """A piece of work that was set aside, with the reason."""

    kind: str
    space_key: str
    document_id: uuid.UUID | None
    memory_id: uuid.UUID | None
    reason: str
    attempts: int
    failed_at: datetime | None


@dataclass(frozen=True)
class Jobs:
    """The work of some spaces: documents to process and embeddings to make, and what failed, latest first."""

    documents: JobNumbers
    embeddings: JobNumbers
    failed: Sequence[FailedJob] = ()


def count_jobs() -> Jobs:
    """The numbers of what the caller's binding reaches. Two queries."""
    return Jobs(documents=_numbers(PendingDocument.objects.all()), embeddings=_numbers(PendingEmbedding.objects.all()))


def list_jobs(access: AccessContext, *, container_tag: str | None = None, limit: int = 0) -> Jobs:
    """The work of one space, or of all that the caller can read, with what failed latest. Four queries.

    Raises `NotFound` for the space.
    """
    spaces = {space.id: space.key for space in access.spaces}
    if container_tag is not None:
        space = access.space(container_tag)
        spaces = {space.id: space.key}
    most = clamp_limit(limit)
    with bound(list(spaces)):
        documents = PendingDocument.objects.filter(space_id__in=list(spaces))
        embeddings = PendingEmbedding.objects.filter(space_id__in=list(spaces))
        latest = [
            *documents.filter(failed()).order_by("-failed_at", "-id")[:most],
            *embeddings.filter(failed()).order_by("-failed_at", "-id")[:most],
        ]
        latest.sort(key=lambda row: (row.failed_at, row.pk), reverse=True)
        return Jobs(
            documents=_numbers(documents),
            embeddings=_numbers(embeddings),
            failed=[_failed_job(row, spaces[row.space_id]) for row in latest[:most]],
        )


def _failed_job(row: PendingDocument | PendingEmbedding, space_key: str) -> FailedJob:
    is_document = isinstance(row, PendingDocument)
    return FailedJob(
        kind="document" if is_document else "embedding",
        space_key=space_key,
        document_id=row.document_id if isinstance(row, PendingDocument) else None,
        memory_id=row.memory_id if isinstance(row, PendingEmbedding) else None,
        reason=row.reason,
        attempts=row.attempts,
        failed_at=row.failed_at,
    )


def _numbers(rows: SpaceOwnedQuerySet) -> JobNumbers:
    now = timezone.now()
    counts = rows.aggregate(
        running=Count("id", filter=running(now)),
        failed=Count("id", filter=failed()),
        all=Count("id"),
        oldest=Min("created_at", filter=~failed()),
    )
    return JobNumbers(
        waiting=counts["all"] - counts["running"] - counts["failed"],
        running=counts["running"],
        failed=counts["failed"],
        oldest_seconds=None if counts["oldest"] is None else max(0, int((now - counts["oldest"]).total_seconds())),
    )
