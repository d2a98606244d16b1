"""Leaving a provider alone after a failure, in all processes at once.

Each process remembers the rest by itself; Redis tells the others. Without Redis each process learns by its own call.
"""

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import ProviderUnavailable
from core.redis_client import ask_redis

# So long a provider is left alone; then one call finds out whether it is well again.
REST_TEMPORARY = 10.0
REST_PERMANENT = 60.0

PREFIX = "memory:breaker:"


@dataclass(frozen=True)
class Rest:
    """Until when (of the breaker's clock, in seconds) calls fail at once, and with which error."""

    until: float
    message: str
    permanent: bool

    def error(self) -> ProviderUnavailable:
        # A new one each time: one object raised in several threads would mix their tracebacks.
        return ProviderUnavailable(self.message, permanent=self.permanent)


class Breaker:
    """The circuit breaker of one provider. `identity` tells its configuration from others; only its digest is kept."""

    def __init__(self, identity: tuple[str, ...], *, clock: Callable[[], float] = time.monotonic) -> None:
        digest = hashlib.sha256("\x00".join(identity).encode()).hexdigest()
        self._name = PREFIX + digest[:32]
        self._clock = clock
        self._lock = threading.Lock()
        self._rest: Rest | None = None
        self._is_probing = False

    def check(self) -> None:
        """Raises the `ProviderUnavailable` that began the rest, while it lasts."""
        rest = self.resting()
        if rest is not None:
            raise rest.error()

    def resting(self) -> Rest | None:
        """The rest that lasts, whichever process began it."""
        with self._lock:
            if self._rest is not None and self._clock() < self._rest.until:
                return self._rest
            # The call that comes after a rest is the one that finds out; what Redis still says is about the same rest.
            self._is_probing = self._is_probing or self._rest is not None
            self._rest = None
            if self._is_probing:
                return None
        return self._shared()

    def open(self, error: ProviderUnavailable, seconds: float | None = None) -> None:
        """Leave the provider alone: for `seconds`, but at least the usual time and at most a minute."""
        usual = REST_PERMANENT if error.permanent else REST_TEMPORARY
        rest = min(max(seconds or 0.0, usual), REST_PERMANENT)
        with self._lock:
            self._rest = Rest(self._clock() + rest, error.message, error.permanent)
            self._is_probing = False
        told = json.dumps({"message": error.message, "permanent": error.permanent})
        milliseconds = math.ceil(rest * 1000)
        if milliseconds:
            ask_redis(lambda client: client.set(self._name, told, px=milliseconds))

    def close(self) -> None:
        """A call was answered; if it was the first after a rest, the other processes learn of it."""
        with self._lock:
            was_probing, self._is_probing = self._is_probing, False
        if was_probing:
            ask_redis(lambda client: client.delete(self._name))

    def _shared(self) -> Rest | None:
        text = ask_redis(lambda client: client.get(self._name))
        if not text:
            return None
        left = ask_redis(lambda client: client.pttl(self._name)) or 0
        told = json.loads(text)
        rest = Rest(self._clock() + max(int(left), 0) / 1000, str(told["message"]), bool(told["permanent"]))
        with self._lock:
            self._rest = rest
        return rest


def forget_rests() -> None:
    """End the rests that other processes were told of; for an administrator who has repaired a provider."""

    def forget(client: object) -> None:
        for name in client.scan_iter(f"{PREFIX}*"):  # type: ignore[attr-defined]
            client.delete(name)  # type: ignore[attr-defined]

    ask_redis(forget)
