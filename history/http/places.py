"""How many git processes serve at once: some in all, and half of them at most for one key."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from core.errors import Busy

AT_ONCE = 8
AT_ONCE_PER_CALLER = 4
# Clients of git have no patience of their own; the machines before them commonly have a minute.
PATIENCE_SECONDS = 50


class Places:
    """A number of places; whoever finds none waits for one."""

    def __init__(self, total: int = AT_ONCE, per_caller: int = AT_ONCE_PER_CALLER) -> None:
        self._free = total
        self._per_caller = per_caller
        self._taken: Counter[Hashable] = Counter()
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def taken(self, caller: Hashable) -> AsyncIterator[None]:
        """Hold a place for the block. Raises `Busy` when none becomes free in time."""
        await self._take(caller)
        try:
            yield
        finally:
            await self._give_back(caller)

    async def _take(self, caller: Hashable) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS), self._changed:
                await self._changed.wait_for(lambda: self._free > 0 and self._taken[caller] < self._per_caller)
                self._free -= 1
                self._taken[caller] += 1
        except TimeoutError:
            raise Busy("The server is busy with other clones; try again in a minute.") from None

    async def _give_back(self, caller: Hashable) -> None:
        self._free += 1
        self._taken[caller] -= 1
        if not self._taken[caller]:
            del self._taken[caller]
        async with self._changed:
            self._changed.notify_all()
