"""Noting when a key was last used, at most once a minute a key, and never while a request waits for it."""

import logging
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import DatabaseError, close_old_connections, connection
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiKey

INTERVAL_SECONDS = 60
_MOST_REMEMBERED = 10_000

logger = logging.getLogger(__name__)
_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="key-last-used")
_lock = threading.Lock()
_noted: dict[uuid.UUID, float] = {}


def note_use(key_id: uuid.UUID) -> None:
    """Write `last_used_at` soon, in another thread, unless it was written within the last minute."""
    now = time.monotonic()
    with _lock:
        if now - _noted.get(key_id, -INTERVAL_SECONDS) < INTERVAL_SECONDS:
            return
        if len(_noted) >= _MOST_REMEMBERED:
            _noted.clear()
        _noted[key_id] = now
    _writer.submit(_write, key_id)


def wait_until_written() -> None:
    """Return when every use noted so far is in the database."""
    _writer.submit(lambda: None).result()


def forget_noted() -> None:
    """Let the next use of every key be written again."""
    with _lock:
        _noted.clear()


def _write(key_id: uuid.UUID) -> None:
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - timedelta(seconds=INTERVAL_SECONDS))
    close_old_connections()
    try:
        ApiKey.objects.filter(stale, id=key_id).update(last_used_at=now)
    except DatabaseError as error:
        logger.warning("could not note the use of key %s: %s", key_id, error)
    finally:
        connection.close()
