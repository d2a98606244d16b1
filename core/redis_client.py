"""Asking Redis for what the server can do without: an answer, or None, and never a wait that others notice.

ask_redis(lambda client: client.get("name"))
"""

import functools
import logging
import time
from collections.abc import Callable
from typing import TypeVar

import redis
from django.conf import settings
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_TIMEOUT_SECONDS = 1.0
# After a failure Redis is left alone for a while: a wait for it in every call would be an outage of its own.
_REST_SECONDS = 5.0
_asked_again_at = 0.0


def ask_redis(question: Callable[["redis.Redis"], Answer], *, patience: float = 0.0) -> Answer | None:
    """What `question` gives, or None while Redis does not answer.

    `patience` is how many seconds the command itself may wait inside Redis (a blocking pop).
    """
    global _asked_again_at
    if time.monotonic() < _asked_again_at:
        return None
    try:
        return question(_client(settings.REDIS_URL, _TIMEOUT_SECONDS + patience))
    except (RedisError, OSError) as error:
        _asked_again_at = time.monotonic() + _REST_SECONDS
        logger.warning("Redis does not answer: %s", type(error).__name__)
        return None


@functools.lru_cache(maxsize=8)
def _client(url: str, timeout: float) -> "redis.Redis":
    client: redis.Redis = redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=_TIMEOUT_SECONDS)
    return client
