"""Which tools a client is served: all of them, or the toolsets that it chose for this request.

/mcp?toolsets=notes          or the header      X-MCP-Toolsets: memory, notes
"""

from collections.abc import Set as AbstractSet
from contextvars import ContextVar
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from core.text import excerpt
from mcp_server.registry import Toolset

_EVERYTHING = frozenset(Toolset)
_asked: ContextVar[str | None] = ContextVar("asked_toolsets", default=None)


def choose_toolsets(names: str | None) -> None:
    """Bind what the client asked for, names with commas between them, to the current request; None means all."""
    _asked.set(names)


def chosen_toolsets() -> AbstractSet[Toolset]:
    """The toolsets of this request. Raises `MCPError` when the client asked for one that there is not."""
    asked = _asked.get()
    names = [name.strip().lower() for name in (asked or "").split(",") if name.strip()]
    if not names:
        return _EVERYTHING
    unknown = [name for name in names if name not in _EVERYTHING]
    if unknown:
        shown = excerpt(unknown[0], 60).encode("utf-8", "replace").decode("utf-8")
        raise MCPError(INVALID_PARAMS, f"Unknown toolset: {shown}; there are {', '.join(Toolset)}.")
    return frozenset(Toolset(name) for name in names)


async def refuse_unknown_toolsets(ctx: Any, call_next: Any) -> Any:
    """Middleware: a wrong name is told with the first message, before a client takes the server for an empty one."""
    chosen_toolsets()
    return await call_next(ctx)
