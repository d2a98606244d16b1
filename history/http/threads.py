"""Database work of the git endpoint, in threads of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from core.database import lent_connection

Result = TypeVar("Result")

# Who calls is found out apart, so that mirrors being filled keep nobody waiting for that.
callers = ThreadPoolExecutor(2, thread_name_prefix="git-auth")
mirrors = ThreadPoolExecutor(4, thread_name_prefix="git-mirror")


async def in_thread(pool: ThreadPoolExecutor, function: Callable[[], Result]) -> Result:
    """Run database work in a thread that has a connection for as long as it needs one."""

    def work() -> Result:
        with lent_connection():
            return function()

    return await asyncio.get_running_loop().run_in_executor(pool, work)
