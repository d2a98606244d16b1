"""Claiming work that is kept in rows, so that every space gets its turn and a dead process loses nothing.

    claimed = turns.claim(PendingEmbedding.objects.filter(model_id=…), limit=16)
    with held(claimed):
        ...  # the lease is renewed while this process lives

A claim is a short lease. Whoever holds it renews it; when the process dies another one takes the row over a little
later. Each claim that never came to its end doubles the next lease, and after five the row is set aside as failed, so
that a text which ends its worker is not met again and again.
"""

import logging
import random
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import DatabaseError
from django.utils import timezone

from core.database import lent_connection
from core.text import excerpt
from documents.models import MAXIMUM_REASON, Claimed
from spaces.isolation import bound, every_space
from spaces.models import SpaceOwnedQuerySet

logger = logging.getLogger(__name__)

Row = TypeVar("Row", bound=Claimed)

LEASE = timedelta(seconds=30)
MOST_INTERRUPTIONS = 5
INTERRUPTED = "An attempt did not come to its end: the process that made it was stopped."
_LONGEST_LEASE = timedelta(hours=1)
_RENEWALS_PER_LEASE = 3

_FIRST_RETRY = timedelta(seconds=15)
_LAST_RETRY = timedelta(hours=1)


class Turns:
    """Whose turn it is: goes round the spaces that have work, so that a full one cannot starve the others.

    Each process goes its own round, from a place of its own.
    """

    def __init__(self) -> None:
        self._last = uuid.uuid4()

    def claim(self, rows: SpaceOwnedQuerySet, *, limit: int = 1) -> list[Claimed]:
        """At most `limit` due rows of the space whose turn it is, leased to this process; none when nothing is due."""
        with every_space():
            due = rows.filter(failed_at__isnull=True, next_attempt_at__lte=timezone.now())
            passed: set[uuid.UUID] = set()
            while (space_id := self._next_space(due)) is not None and space_id not in passed:
                passed.add(space_id)
                self._last = space_id
                mine = due.filter(space_id=space_id).select_for_update(skip_locked=True, of=("self",))
                claimed = lease(list(mine.order_by("next_attempt_at", "id")[:limit]))
                if claimed:
                    return claimed
        return []

    def _next_space(self, due: SpaceOwnedQuerySet) -> uuid.UUID | None:
        spaces = due.order_by("space_id").values_list("space_id", flat=True)
        found: uuid.UUID | None = spaces.filter(space_id__gt=self._last).first() or spaces.first()
        return found


def lease(rows: Sequence[Row]) -> list[Row]:
    """Claim locked rows within the caller's transaction; those interrupted too often are set aside instead."""
    now = timezone.now()
    claimed = [row for row in rows if row.interruptions < MOST_INTERRUPTIONS]
    for row in rows:
        if row.interruptions >= MOST_INTERRUPTIONS:
            row.failed_at, row.claimed_at = now, None
            logger.error("%s %s is set aside: %s", type(row).__name__, row.pk, row.reason)
        else:
            row.next_attempt_at = now + lease_length(row)
            row.claimed_at = now
            row.attempts += 1
            row.interruptions += 1
        row.reason = INTERRUPTED
    if rows:
        fields = ["next_attempt_at", "claimed_at", "failed_at", "attempts", "interruptions", "reason"]
        type(rows[0])._default_manager.bulk_update(rows, fields)
    return claimed


def lease_length(row: Claimed) -> timedelta:
    """How long a row is left to the process that claims it, before another one may."""
    length: timedelta = min(LEASE * 2 ** min(row.interruptions, 10), _LONGEST_LEASE)
    return length


@contextmanager
def held(rows: Sequence[Claimed]) -> Iterator[None]:
    """Renew the leases of claimed rows until the block ends, however long the providers take."""
    if not rows:
        yield
        return
    ended = threading.Event()
    renewing = threading.Thread(target=_renew, args=(rows, ended), name="lease", daemon=True)
    renewing.start()
    try:
        yield
    finally:
        ended.set()


def _renew(rows: Sequence[Claimed], ended: threading.Event) -> None:
    kind, ids = type(rows[0]), [row.pk for row in rows]
    # As they were claimed: the row itself has counted this claim as an interruption already.
    length = min(row.next_attempt_at - row.claimed_at for row in rows if row.claimed_at is not None)
    while not ended.wait(length.total_seconds() / _RENEWALS_PER_LEASE):
        try:
            with lent_connection(), every_space():
                mine = kind._default_manager.filter(pk__in=ids, claimed_at__isnull=False)
                mine.update(next_attempt_at=timezone.now() + length)
        except DatabaseError:
            logger.warning("a lease could not be renewed", exc_info=True)


def postpone(row: Claimed, reason: str, *, permanent: bool = False, gives_up: bool = False) -> None:
    """Put a claimed row back, with the reason and the time of the next attempt; `gives_up` sets it aside as failed."""
    now = timezone.now()
    kind = type(row)
    with bound(_space_of(row)):
        kind._default_manager.filter(pk=row.pk).update(
            next_attempt_at=now + retry_delay(row.attempts, permanent=permanent),
            claimed_at=None,
            attempts=row.attempts,
            interruptions=0,
            failed_at=now if gives_up else None,
            reason=excerpt(reason, MAXIMUM_REASON),
        )


def retry_delay(attempts: int, *, permanent: bool = False) -> timedelta:
    """Until the next attempt after so many: doubled each time, an hour at most, and spread."""
    delay = _LAST_RETRY if permanent else min(_FIRST_RETRY * 2 ** min(attempts, 10), _LAST_RETRY)
    return delay * random.uniform(0.8, 1.2)  # noqa: S311 - spreading, not secrecy


def retry(rows: SpaceOwnedQuerySet, now: datetime | None = None) -> int:
    """Make rows due again, failed ones too, within the caller's binding; returns how many. Running ones stay."""
    now = now or timezone.now()
    waiting = rows.filter(claimed_at__isnull=True) | rows.filter(next_attempt_at__lte=now)
    return waiting.update(next_attempt_at=now, claimed_at=None, failed_at=None, interruptions=0, attempts=0)


def _space_of(row: Claimed) -> uuid.UUID:
    space_id: uuid.UUID = row.space_id  # type: ignore[attr-defined]  # every claimed row has a space
    return space_id
