"""The site with one more tool, which does nothing: the floor under every tool call."""

from core.wire import WireModel
from mcp_server.registry import tool
from memory_site.asgi import application
from spaces.access import AccessContext

__all__ = ["application"]


class Nothing(WireModel):
    """An answer without content."""


@tool(title="Nothing", output=Nothing, read_only=True)
def empty(access: AccessContext) -> Nothing:
    """Does nothing."""
    return Nothing()
