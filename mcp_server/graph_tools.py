"""Tools about what was taken out of search and what contradicts what."""

# Parameter names are a contract with clients, in mixed case on purpose.
# ruff: noqa: N803

from core.errors import Invalid
from mcp_server.parameters import Parameter
from mcp_server.registry import tool
from memories.contested import list_contested as contested_pairs
from memories.graph_wire import WirePairPage, WireResolved, WireRestored
from memories.models import Decision
from memories.services import contested
from memories.services.restore import restore_memory as bring_back
from spaces.access import AccessContext

_SPACE = Parameter("containerTag", "string", "Key of the space; left out, all spaces of the key are looked in.")
_REOPEN = "reopen"


@tool(
    Parameter("resolved", "boolean", "List the decided pairs instead, with who, when and why.", default=False),
    Parameter("page", "integer", "Page number, from 1.", default=1),
    Parameter("limit", "integer", "Entries a page, at most 50.", default=10),
    Parameter("containerTag", "string", "Key of the space; left out, the key's active space is used."),
    title="List contested pairs",
    output=WirePairPage,
    read_only=True,
)
def list_contested(
    access: AccessContext, resolved: bool, page: int, limit: int, containerTag: str | None
) -> WirePairPage:
    """Lists memories that contradict each other: `updating` says to update `contested`, and both are still active,
    mostly because they come from different people. Ask a person who knows, then call resolve_contested."""
    return WirePairPage.of(
        contested_pairs(access, container_tag=containerTag, resolved=resolved, page=page, limit=limit)
    )


@tool(
    Parameter("pairId", "string", "Id of a pair from list_contested.", required=True),
    Parameter(
        "decision",
        "string",
        "keep_both; supersede: the updating one takes the other's place; forget: memoryId goes; reopen: take back.",
        required=True,
        choices=(*Decision.values, _REOPEN),
    ),
    Parameter("reason", "string", "Why, in a sentence. Required except for reopen."),
    Parameter("memoryId", "string", "Which of the two to forget; only with the decision forget."),
    _SPACE,
    title="Resolve a contested pair",
    output=WireResolved,
    destructive=True,
)
def resolve_contested(
    access: AccessContext,
    pairId: str,
    decision: str,
    reason: str | None,
    memoryId: str | None,
    containerTag: str | None,
) -> WireResolved:
    """Decides between the two memories of a contested pair. Who decided, when and why is kept, and reopen takes it
    back. Refused when somebody else has decided in the meantime."""
    if decision.strip().lower() == _REOPEN:
        if memoryId is not None:
            raise Invalid("memoryId can only be given with the decision forget.")
        return WireResolved.of_reopened(
            contested.reopen_contested(access, pairId, reason=reason, container_tag=containerTag)
        )
    return WireResolved.of(
        contested.resolve_contested(
            access, pairId, decision=decision, reason=reason or "", memory_id=memoryId, container_tag=containerTag
        )
    )


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
