"""Tools about what was taken out of search and what contradicts what."""

# Parameter names are a contract with clients, in mixed case on purpose.
# ruff: noqa: N803

from mcp_server.parameters import Parameter
from mcp_server.registry import tool
from memories.graph_wire import WireRestored
from memories.services.restore import restore_memory as bring_back
from spaces.access import AccessContext

_SPACE = Parameter("containerTag", "string", "Key of the space; left out, all spaces of the key are looked in.")


@tool(
    Parameter("memoryId", "string", "Id of a forgotten or superseded memory, as listMemories gives it.", required=True),
    _SPACE,
    title="Restore a memory",
    output=WireRestored,
    idempotent=True,
)
def restore_memory(access: AccessContext, memoryId: str, containerTag: str | None) -> WireRestored:
    """Brings back a memory that was forgotten or superseded: it keeps its author and is found by search again. Refused
    when the same statement was saved again in the meantime."""
    return WireRestored.of(bring_back(access, memoryId, container_tag=containerTag))
