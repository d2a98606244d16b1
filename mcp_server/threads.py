"""Database work of async handlers, in threads of their own: many slow calls run side by side.

Django's async ORM would put all of them on one thread (measured: 16 calls in a row instead of at once).
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from core.concurrency import AUTHENTICATIONS, CALLS
from core.database import lent_connection

P = ParamSpec("P")
R = TypeVar("R")

# Authentication has threads of its own, so that slow calls do not shut others out.
_call_threads = ThreadPoolExecutor(CALLS, thread_name_prefix="mcp-call")
_authentication_threads = ThreadPoolExecutor(AUTHENTICATIONS, thread_name_prefix="mcp-auth")


async def call(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """Run a tool's work in a thread that has a database connection for as long as it needs one."""
    return await _run(_call_threads, function, *arguments, **named)


async def authenticate(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """As `call`, for the short questions asked before a request is served."""
    return await _run(_authentication_threads, function, *arguments, **named)


async def _run(pool: ThreadPoolExecutor, function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    context = contextvars.copy_context()

    def work() -> R:
        with lent_connection():
            return function(*arguments, **named)

    return await asyncio.get_running_loop().run_in_executor(pool, context.run, work)
