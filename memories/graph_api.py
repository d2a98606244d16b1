"""The graph of a space, and restoring what was taken out of it, over REST."""

from django.http import HttpRequest
from ninja import Query

from core.rest import Cursor, RestQuery, WireRouter
from memories.graph import WINDOW, related_memories, space_graph
from memories.graph_wire import WireGraphPage, WireRelatedList, WireRestored
from memories.search.related import MAXIMUM_HOPS
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
