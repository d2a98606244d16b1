"""The end of the work on a document: its state, its outcome, and the row that asked for the work."""

from datetime import datetime

from django.utils import timezone

from core.text import excerpt
from documents.models import MAXIMUM_REASON, Document, PendingDocument, Stage, Status
from memories.services.jobs import Job
from memories.services.outcome import Outcome


def lock_row(job: Job) -> bool:
    """Within the transaction that settles a document: whether the work is still asked for.

    Of two processes that did it, the first one's result counts, and the second one's is dropped.
    """
    rows = PendingDocument.objects.in_space(job.space).filter(pk=job.row.pk)
    return rows.select_for_update().values_list("pk", flat=True).first() is not None


def settle(
    job: Job,
    *,
    extraction: Stage,
    outcome: Outcome | None = None,
    reason: str = "",
    again_at: datetime | None = None,
    keep_failed: bool = False,
) -> None:
    """Write the end of the work within the caller's transaction.

    The row goes, unless the splitting is to be tried again at `again_at`, or waits for somebody's retry
    (`keep_failed`).
    """
    now = timezone.now()
    reason = excerpt(reason, MAXIMUM_REASON)
    changes = {"status": Status.PROCESSED, "extraction": extraction, "reason": reason}
    if job.is_first:
        changes["updated_at"] = now
    if outcome is not None:
        changes["outcome"] = outcome.as_json()
    Document.objects.in_space(job.space).filter(id=job.document.id).update(**changes)
    rows = PendingDocument.objects.in_space(job.space).filter(pk=job.row.pk)
    if again_at is None and not keep_failed:
        rows.delete()
        return
    rows.update(
        next_attempt_at=again_at or now,
        failed_at=now if keep_failed else None,
        claimed_at=None,
        interruptions=0,
        reason=reason,
    )


def fail(job: Job, reason: str) -> None:
    """Set a document aside that cannot be processed; its words stay, and a retry may be asked for."""
    now = timezone.now()
    reason = excerpt(reason, MAXIMUM_REASON)
    if job.is_first:
        Document.objects.in_space(job.space).filter(id=job.document.id).update(
            status=Status.FAILED, extraction=Stage.FAILED, reason=reason, updated_at=now
        )
    PendingDocument.objects.in_space(job.space).filter(pk=job.row.pk).update(
        failed_at=now, claimed_at=None, interruptions=0, reason=reason
    )
