"""The graph of a space, its contested pairs, and restoring what was taken out of it, over REST."""

from django.http import HttpRequest
from ninja import Query

from core.rest import Cursor, RestBody, RestQuery, WireRouter
from memories.contested import list_contested_after
from memories.graph import WINDOW, related_memories, space_graph
from memories.graph_wire import WireGraphPage, WirePairList, WireRelatedList, WireResolved, WireRestored
from memories.search.related import MAXIMUM_HOPS
from memories.services.contested import reopen_contested, resolve_contested
from memories.services.restore import restore_memory
from spaces.rest import access_of

router = WireRouter(tags=["Graph"])


class RelatedFilters(RestQuery):
    depth: int = MAXIMUM_HOPS
    types: str | None = None
    cursor: Cursor | None = None
    limit: int = 10


class GraphFilters(RestQuery):
    depth: int = 1
    types: str | None = None
    cursor: Cursor | None = None
    limit: int = WINDOW


class ContestedFilters(RestQuery):
    resolved: bool = False
    cursor: Cursor | None = None
    limit: int = 10


class NewResolution(RestBody):
    """What to do with a contested pair, and why."""

    decision: str
    reason: str
    memory_id: str | None = None


class Reopening(RestBody):
    """Why a decision is taken back."""

    reason: str | None = None


@router.get("/memories/{memory_id}/related", response=WireRelatedList, summary="What a memory is linked to")
def get_related(request: HttpRequest, memory_id: str, filters: Query[RelatedFilters]) -> WireRelatedList:
    """The memories one or two edges away, in both directions, nearest first, forgotten ones too."""
    return WireRelatedList.of(related_memories(access_of(request), memory_id, **filters.dict()))


@router.get("/spaces/{space_key}/graph", response=WireGraphPage, summary="Graph of a space, page by page")
def get_space_graph(request: HttpRequest, space_key: str, filters: Query[GraphFilters]) -> WireGraphPage:
    """Memories of a space, newest first, with what they are linked to and the edges among them."""
    return WireGraphPage.of(space_graph(access_of(request), space_key, **filters.dict()))


@router.post("/memories/{memory_id}/restore", response=WireRestored, summary="Restore a memory")
def post_restore(request: HttpRequest, memory_id: str) -> WireRestored:
    """Bring a forgotten or superseded memory back. 409 when the space has been told the same again."""
    return WireRestored.of(restore_memory(access_of(request), memory_id))


@router.get("/spaces/{space_key}/contested", response=WirePairList, summary="Contested pairs")
def get_contested(request: HttpRequest, space_key: str, filters: Query[ContestedFilters]) -> WirePairList:
    """Memories that say to update another one that is still active, or with `resolved` those that are decided."""
    return WirePairList.of(list_contested_after(access_of(request), space_key, **filters.dict()))


@router.post("/spaces/{space_key}/contested/{pair_id}/resolve", response=WireResolved, summary="Resolve a pair")
def post_resolve(request: HttpRequest, space_key: str, pair_id: str, payload: NewResolution) -> WireResolved:
    """Decide between the two of a contested pair. 409 when somebody else has, or one of them is active no more."""
    resolution = resolve_contested(access_of(request), pair_id, container_tag=space_key, **payload.dict())
    return WireResolved.of(resolution)


@router.post("/spaces/{space_key}/contested/{pair_id}/reopen", response=WireResolved, summary="Reopen a pair")
def post_reopen(request: HttpRequest, space_key: str, pair_id: str, payload: Reopening) -> WireResolved:
    """Take back what was decided about a pair; a memory that it took out of search is restored."""
    resolution = reopen_contested(access_of(request), pair_id, container_tag=space_key, **payload.dict())
    return WireResolved.of_reopened(resolution)
