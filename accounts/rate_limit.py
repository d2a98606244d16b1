"""The rate limit: a fixed window per caller, counted in Redis, so that it holds over all workers.

It runs before authentication, so that a flood of bad keys never reaches the database.
"""

import hashlib
import ipaddress
import logging
import time
from functools import lru_cache

import redis
from django.conf import settings
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

# One round trip: count, start the window with the first request, tell what is left of it in milliseconds.
_COUNT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
"""
_TIMEOUT_SECONDS = 0.5
_LOG_EVERY_SECONDS = 60
_last_logged = 0.0


def seconds_to_wait(caller: str) -> int | None:
    """Count one request of `caller` (a presented key, or an address); None when it may pass.

    Else the whole seconds until the window ends, at least 1. When Redis does not answer every request passes, which
    is logged: a limit must not be what takes the service down.
    """
    if not settings.RATE_LIMIT_ENABLED:
        return None
    name = "rate:" + hashlib.sha256(caller.encode("utf-8", "surrogatepass")).hexdigest()
    window = settings.RATE_LIMIT_WINDOW_SECONDS * 1000
    try:
        count, left = _client(settings.REDIS_URL).eval(_COUNT, 1, name, window)
    except RedisError as error:
        _log(error)
        return None
    if count <= settings.RATE_LIMIT_REQUESTS:
        return None
    return max(1, -(-int(left) // 1000))


def client_address(peer: str, forwarded_for: str) -> str:
    """Where a request comes from: the peer, or what a trusted proxy says of it in `X-Forwarded-For`."""
    if peer not in settings.TRUSTED_PROXIES:
        return peer
    # The nearest address that no trusted proxy added: whatever stands before it, the client itself may have made up.
    for address in reversed([part.strip() for part in forwarded_for.split(",")]):
        if address and address not in settings.TRUSTED_PROXIES:
            try:
                return str(ipaddress.ip_address(address))
            except ValueError:
                break
    return peer


@lru_cache(maxsize=4)
def _client(url: str) -> "redis.Redis":
    return redis.Redis.from_url(url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS)


def _log(error: RedisError) -> None:
    global _last_logged
    if time.monotonic() - _last_logged > _LOG_EVERY_SECONDS:
        _last_logged = time.monotonic()
        logger.error("the rate limit is off, because Redis does not answer: %s", type(error).__name__)
