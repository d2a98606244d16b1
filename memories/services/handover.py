"""From the call that saved a document to the process that works on it, and the wait for the result.

A worker is told over Celery and works in the order of turns. When no broker answers, this process does the work
itself, in a thread of its own. Nobody holds a connection while waiting: the worker's word comes through Redis, and the
row is looked at now and then in case it was lost. Only half of the calls that a process serves at once may wait, so
that searches go on however many texts are being saved; a save beyond that learns at once that it is pending.
"""

import threading
import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TimedOut

import redis
from django.db import connection

from core.concurrency import CALLS
from core.database import lent_connection, release_connection
from core.redis_client import ask_redis
from documents.models import PendingDocument, Status
from memories.services.queue import request_processing
from spaces.access import SpaceAccess
from spaces.isolation import bound

# What is done here while there is no broker; more waits in line.
_own_work = ThreadPoolExecutor(2, thread_name_prefix="pipeline")

_PREFIX = "memory:processed:"
# Longer than anybody waits.
_KEPT_SECONDS = 120
# Between two looks at the row while Redis brings the word, and while it does not.
_LOOK_SECONDS = 2.0
_POLL_SECONDS = 0.25


# The other half is there for those who do not wait for a model.
_waiting = threading.BoundedSemaphore(max(1, CALLS // 2))


def hand_over(space: SpaceAccess, document_id: uuid.UUID, *, wait: float) -> None:
    """Have a stored document processed; returns when that is done, or after `wait` seconds."""
    if connection.in_atomic_block:
        # Nobody else sees the document before the caller's transaction ends; the sweep finds it then.
        return
    deadline = time.monotonic() + wait
    work = None if request_processing() else _own_work.submit(_process_here, space.id, document_id)
    if wait <= 0 or not _waiting.acquire(blocking=False):
        return
    try:
        release_connection()
        if work is not None:
            _await_own(work, wait)
        else:
            _await_worker(space, document_id, deadline)
    finally:
        _waiting.release()


def announce(document_id: uuid.UUID) -> None:
    """Tell whoever waits for a document that there is something to see."""
    name = f"{_PREFIX}{document_id}"

    def tell(client: "redis.Redis") -> None:
        client.rpush(name, 1)
        client.expire(name, _KEPT_SECONDS)

    ask_redis(tell)


def _process_here(space_id: uuid.UUID, document_id: uuid.UUID) -> None:
    from memories.services.pipeline import process_document

    with lent_connection():
        process_document(space_id, document_id)


def _await_own(work: "Future[None]", seconds: float) -> None:
    try:
        work.result(seconds)
    except TimedOut:
        return


def _await_worker(space: SpaceAccess, document_id: uuid.UUID, deadline: float) -> None:
    while (left := deadline - time.monotonic()) > 0:
        _await_word(document_id, left)
        if not _is_pending(space, document_id):
            return
        release_connection()


def _await_word(document_id: uuid.UUID, left: float) -> None:
    seconds = min(left, _LOOK_SECONDS)
    asked = time.monotonic()
    word = ask_redis(lambda client: client.blpop(f"{_PREFIX}{document_id}", seconds), patience=_LOOK_SECONDS)
    if word is None and time.monotonic() - asked < seconds / 2:
        # Redis is out of reach: nothing waited for us.
        time.sleep(min(left, _POLL_SECONDS))


def _is_pending(space: SpaceAccess, document_id: uuid.UUID) -> bool:
    """Whether its first processing is still to come."""
    with bound(space):
        waiting = PendingDocument.objects.in_space(space).filter(document_id=document_id, failed_at__isnull=True)
        return bool(waiting.filter(document__status=Status.PENDING).exists())
