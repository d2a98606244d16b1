"""Memories and search over REST."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema, Status

from core.paging import CursorPage
from core.rest import Cursor, RestBody, RestQuery, WireRouter, call_id
from core.wire import WireModel, fit_texts
from memories.graph import recent_graph
from memories.models import Memory
from memories.queries import get_memory, list_memories_after
from memories.search.service import search
from memories.services.forget import forget_by_content, forget_by_id
from memories.services.save import DEFAULT_WAIT, save_memory
from memories.wire import WireGraph, WireMemory, WireSearchResult, WireWriteResult
from spaces.rest import access_of

router = WireRouter(tags=["Memories"])


class NewMemory(RestBody):
    """A text to remember; `wait` is for how many seconds at most the answer may wait for its processing."""

    content: str
    category: str | None = None
    source: str | None = None
    container_tag: str | None = None
    wait: int = DEFAULT_WAIT


class ForgetRequest(RestBody):
    """What to forget, by what it says."""

    content: str
    container_tag: str | None = None
    reason: str | None = None


class SearchCriteria(Schema):
    """What both ways of searching take."""

    query: str | None = None
    keyword: str | None = None
    category: str | None = None
    include_profile: bool = True
    container_tag: str | None = None
    limit: int = 10


class SearchRequest(SearchCriteria, RestBody):
    """What to look for: at least one of query, keyword and category."""


class SearchFilters(SearchCriteria, RestQuery):
    """As `SearchRequest`, in the address."""


class MemoryFilters(RestQuery):
    container_tag: str | None = None
    cursor: Cursor | None = None
    limit: int = 10
    category: str | None = None
    is_active: bool | None = None


class ForgetReason(RestQuery):
    reason: str | None = None


class SpaceFilter(RestQuery):
    container_tag: str | None = None


class WireMemoryList(WireModel):
    """One page of memories, newest first; `nextCursor` is left out on the last one."""

    items: list[WireMemory]
    next_cursor: str | None = None

    @classmethod
    def of(cls, page: CursorPage[Memory]) -> "WireMemoryList":
        items = [WireMemory.of(memory) for memory in page.items]
        fit_texts(items)
        return cls(items=items, next_cursor=page.next_cursor)


@router.post(
    "/memories",
    response={200: WireWriteResult, 201: WireWriteResult, 202: WireWriteResult},
    summary="Remember",
)
def post_memory(request: HttpRequest, response: HttpResponse, payload: NewMemory) -> Status[WireWriteResult]:
    """Remember a text. 201 when it was added, 200 when the space knew it already, 202 while it is being processed: the
    document at Location tells what became of it."""
    saved = save_memory(access_of(request), document_id=call_id(request), **payload.dict())
    if saved.memories:
        response["Location"] = f"/api/v1/memories/{saved.memory.id}"
        return Status(200 if saved.duplicate else 201, WireWriteResult.of_save(saved))
    response["Location"] = f"/api/v1/documents/{saved.document_id}"
    return Status(202, WireWriteResult.of_save(saved))


@router.get("/memories", response=WireMemoryList, summary="List memories")
def get_memories(request: HttpRequest, filters: Query[MemoryFilters]) -> WireMemoryList:
    """All memories of a space, newest first, forgotten ones too unless `isActive` says otherwise."""
    page = list_memories_after(
        access_of(request),
        container_tag=filters.container_tag,
        cursor=filters.cursor,
        limit=filters.limit,
        category=filters.category,
        active=filters.is_active,
    )
    return WireMemoryList.of(page)


@router.post("/memories/forget", response=WireWriteResult, summary="Forget by content")
def post_forget(request: HttpRequest, payload: ForgetRequest) -> WireWriteResult:
    """Forget the one memory that says this. When none is clearly meant, nothing changes; the candidates come back."""
    return WireWriteResult.of_forget(forget_by_content(access_of(request), **payload.dict()))


@router.get("/memories/{memory_id}", response=WireMemory, summary="One memory")
def get_one_memory(request: HttpRequest, memory_id: str) -> WireMemory:
    """One memory of any space this key can read, forgotten or not."""
    return WireMemory.of(get_memory(access_of(request), memory_id))


@router.delete("/memories/{memory_id}", response=WireWriteResult, summary="Forget by id")
def delete_memory(request: HttpRequest, memory_id: str, filters: Query[ForgetReason]) -> WireWriteResult:
    """Forget one memory; the record of it is kept, with who forgot it and why."""
    return WireWriteResult.of_forget(forget_by_id(access_of(request), memory_id, reason=filters.reason))


@router.post("/search", response=WireSearchResult, summary="Search")
def post_search(request: HttpRequest, payload: SearchRequest) -> WireSearchResult:
    """Search one space by meaning and words, by keyword, or by category."""
    return _search(request, payload.dict())


@router.get("/search", response=WireSearchResult, summary="Search")
def get_search(request: HttpRequest, filters: Query[SearchFilters]) -> WireSearchResult:
    """As the POST, with the input in the address."""
    return _search(request, filters.dict())


@router.get("/graph", response=WireGraph, summary="Graph of a space")
def get_graph(request: HttpRequest, filters: Query[SpaceFilter]) -> WireGraph:
    """The 50 newest memories of a space and the edges among them."""
    return WireGraph.of(recent_graph(access_of(request).space(filters.container_tag)))


def _search(request: HttpRequest, arguments: dict[str, Any]) -> WireSearchResult:
    return WireSearchResult.of(search(access_of(request), **arguments))
