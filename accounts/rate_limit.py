"""The rate limit: a fixed window per caller, counted in Redis, so that it holds over all workers.

It runs before authentication. Made-up keys have a counter each, so what does not authenticate is counted against its
address as well: a flood of them reaches the database only for a bounded number of times in each window.
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

# One round trip: count, start the window with the first request, tell what is left of it in milliseconds. A counter
# that has no end, however it came about, gets one: nobody may be shut out for good.
_COUNT = """
if KEYS[2] ~= '' and tonumber(redis.call('GET', KEYS[2]) or '0') >= tonumber(ARGV[2]) then
    return {-1, redis.call('PTTL', KEYS[2])}
end
local count = redis.call('INCR', KEYS[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
"""
# Windows of one key that wrong keys of an address may fill together. A forgotten key is bounded by its own limit, so it
# takes ten of them to shut out those who share their address.
_FAILING_KEYS = 10
_TIMEOUT_SECONDS = 0.5
# After a failure Redis is left alone for a while: a wait for it in every request would be an outage of its own.
_REST_SECONDS = 5
_LOG_EVERY_SECONDS = 60


class _Counters:
    """The counters in one Redis, which may be out of reach for a while."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )
        self._asked_again_at = self._logged_again_at = 0.0

    def count(self, name: str, failures: str, window: int, most_failures: int) -> tuple[int, int] | None:
        """Count one: how many there are in this window, and the milliseconds that are left of it; None in an outage.

        Nothing is counted, and -1 comes back for the number, when the counter `failures` stands at `most_failures`.
        """
        if time.monotonic() < self._asked_again_at:
            return None
        try:
            count, left = self._redis.eval(_COUNT, 2, name, failures, window, most_failures)
        except RedisError as error:
            self._note(error)
            return None
        return int(count), int(left)

    def _note(self, error: RedisError) -> None:
        now = time.monotonic()
        self._asked_again_at = now + _REST_SECONDS
        if now >= self._logged_again_at:
            self._logged_again_at = now + _LOG_EVERY_SECONDS
            logger.error("the rate limit is off, because Redis does not answer: %s", type(error).__name__)


def seconds_to_wait(caller: str, address: str) -> int | None:
    """Count one request of `caller` (a presented key, or an address) from `address`; None when it may pass.

    Else the whole seconds until the window ends, at least 1. When Redis does not answer every request passes, which
    is logged: a limit must not be what takes the service down.
    """
    if not settings.RATE_LIMIT_ENABLED:
        return None
    limit = settings.RATE_LIMIT_REQUESTS
    window = settings.RATE_LIMIT_WINDOW_SECONDS * 1000
    counted = _counters(settings.REDIS_URL).count(
        "rate:" + _digest(caller), _failures(address), window, limit * _FAILING_KEYS
    )
    if counted is None or 0 <= counted[0] <= limit:
        return None
    return max(1, -(-counted[1] // 1000))


def note_failure(address: str) -> None:
    """Count a key that did not authenticate against the address it came from."""
    if settings.RATE_LIMIT_ENABLED:
        _counters(settings.REDIS_URL).count(_failures(address), "", settings.RATE_LIMIT_WINDOW_SECONDS * 1000, 0)


def _failures(address: str) -> str:
    return "failures:" + _digest(address)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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
def _counters(url: str) -> _Counters:
    return _Counters(url)
