"""Documents over REST."""

from django.http import HttpRequest, HttpResponse
from ninja import Query, Status

from core.rest import Cursor, RestBody, RestQuery, WireRouter, call_id
from core.wire import WireModel
from documents.queries import get_document, list_documents_after
from documents.services.documents import create_document
from documents.wire import WireDocument, WireDocumentDetail, listed
from spaces.rest import access_of

router = WireRouter(tags=["Documents"])


class NewDocument(RestBody):
    """A document to store; the content of a pdf is the file in base64."""

    title: str
    doc_type: str
    content: str
    summary: str | None = None
    container_tag: str | None = None


class DocumentFilters(RestQuery):
    container_tag: str | None = None
    cursor: Cursor | None = None
    limit: int = 10


class WireDocumentList(WireModel):
    """One page of documents, last changed first; `nextCursor` is left out on the last one."""

    items: list[WireDocument]
    next_cursor: str | None = None


@router.post("/documents", response={201: WireDocument}, summary="Store a document")
def post_document(request: HttpRequest, response: HttpResponse, payload: NewDocument) -> Status[WireDocument]:
    """Store a document; of a pdf the text is read and stored. It makes no memories."""
    document = create_document(access_of(request), document_id=call_id(request), **payload.dict())
    response["Location"] = f"/api/v1/documents/{document.id}"
    return Status(201, WireDocument.of(document))


@router.get("/documents", response=WireDocumentList, summary="List documents")
def get_documents(request: HttpRequest, filters: Query[DocumentFilters]) -> WireDocumentList:
    """The documents of a space, last changed first."""
    page = list_documents_after(
        access_of(request), container_tag=filters.container_tag, cursor=filters.cursor, limit=filters.limit
    )
    return WireDocumentList(items=listed(page.items), next_cursor=page.next_cursor)


@router.get("/documents/{document_id}", response=WireDocumentDetail, summary="One document")
def get_one_document(request: HttpRequest, document_id: str) -> WireDocumentDetail:
    """One document of any space this key can read, with its whole content."""
    return WireDocumentDetail.of(get_document(access_of(request), document_id))
