"""Writes that may be repeated: whoever lost the answer sends the same again and gets the first answer.

call = begin(caller=key_id, operation="add_memory", key="7f3a…", request=arguments)
if call.answer is None:
    ...  # do it; what it makes gets the id `call.id`
    keep(call, answer)
"""

import hashlib
import json
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import MAXIMUM_IDEMPOTENCY_KEY, IdempotentCall
from core.errors import Conflict, Invalid
from core.text import clean_line

# How long an answer is kept, as other interfaces do it.
KEPT = timedelta(hours=24)
# Longer than any call takes; after that its process is taken for dead, and a repeated call takes it up.
_LONGEST_CALL = timedelta(minutes=2)


@dataclass(frozen=True)
class Call:
    """A call under a key of its caller. `answer` is None when it is to be done now."""

    id: uuid.UUID
    answer: Any


def begin(*, caller: uuid.UUID, operation: str, key: str, request: Any) -> Call:
    """Take a call on, or find its first answer. `request` is everything that was asked, as JSON-ready data or bytes.

    Raises `Invalid` for a key that cannot be used, or was used for something else, and `Conflict` while the first call
    is still running.
    """
    key = clean_line(key, "The idempotency key", maximum=MAXIMUM_IDEMPOTENCY_KEY)
    raw = request if isinstance(request, bytes) else json.dumps(request, sort_keys=True, default=str).encode()
    fingerprint = hashlib.sha256(raw).digest()
    now = timezone.now()
    mine = IdempotentCall.objects.filter(caller=caller, operation=operation, key=key)
    mine.filter(created_at__lt=now - KEPT).delete()
    row, is_new = mine.get_or_create(
        caller=caller,
        operation=operation,
        key=key,
        defaults={"fingerprint": fingerprint, "locked_until": now + _LONGEST_CALL},
    )
    if is_new:
        return Call(row.id, None)
    if bytes(row.fingerprint) != fingerprint:
        raise Invalid("This idempotency key was used with another request; a new request needs a new key.")
    if row.answer is not None:
        return Call(row.id, row.answer)
    # Of several that repeat a call whose process died, one takes it up.
    if not mine.filter(locked_until__lte=now, answer__isnull=True).update(locked_until=now + _LONGEST_CALL):
        raise Conflict("The first call with this idempotency key is still running; ask again in a moment.")
    return Call(row.id, None)


def keep(call: Call, answer: Any) -> None:
    """Keep the answer for those who repeat the call."""
    IdempotentCall.objects.filter(id=call.id).update(answer=answer)


def give_up(call: Call, *, nothing_was_done: bool) -> None:
    """The call ended in an error: it may be repeated at once, and with another request when nothing was done."""
    if nothing_was_done:
        IdempotentCall.objects.filter(id=call.id).delete()
    else:
        IdempotentCall.objects.filter(id=call.id, answer__isnull=True).update(locked_until=timezone.now())


def forget_old_calls() -> int:
    """Remove the answers that were kept long enough; returns how many."""
    number, _ = IdempotentCall.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
    return number
