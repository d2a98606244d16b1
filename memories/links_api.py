"""Links between notes and facts, known sources, and notes that say the same, over REST."""

from django.http import HttpRequest
from ninja import Query

from core.rest import Cursor, RestBody, RestQuery, WireRouter
from core.wire import WireModel
from memories import notes
from memories.link_wire import WireLink, WireRelated, WireSimilarPair, WireUnlinked
from memories.note_wire import WireMergedEntry
from memories.services.links import get_related, link_notes, unlink_notes
from memories.services.merge import merge_notes
from memories.services.similar_notes import find_similar
from spaces.rest import access_of

router = WireRouter(tags=["Links"])


class NewLink(RestBody):
    """A link to another note or fact of the project; linked again, its note is replaced."""

    to_entry_id: str
    relation_type: str
    note: str | None = None


class UnlinkOptions(RestQuery):
    reactivate: bool = False


class SourceQuestion(RestBody):
    """References that may be known, in one project or in all."""

    source_type: str
    source_refs: list[str]
    project: str | None = None


class SimilarQuestion(RestBody):
    """Where similar notes are looked for, and from what cosine on; without one, from the model's own."""

    project: str | None = None
    threshold: float | None = None
    auto_link: bool = False
    cursor: Cursor | None = None


class Merge(RestBody):
    """The notes that one takes in; `version` is that of the one, as it was read."""

    other_entry_ids: list[str]
    version: int | None = None


class WireSimilarList(WireModel):
    """Pairs, the most alike first; `nextCursor` leads to notes that were not looked at yet."""

    items: list[WireSimilarPair]
    threshold: float
    next_cursor: str | None = None


@router.get("/notes/{note_id}/links", response=list[WireRelated], summary="Links of a note")
def get_links(request: HttpRequest, note_id: str) -> list[WireRelated]:
    """What a note or fact is linked to, in both directions, outdated ones too."""
    return [WireRelated.of(related) for related in get_related(access_of(request), note_id)]


@router.put("/notes/{note_id}/links", response=WireLink, summary="Link")
def put_link(request: HttpRequest, note_id: str, payload: NewLink) -> WireLink:
    """Link a note or fact to another one. `supersedes` makes a note outdated, and forgets a fact."""
    linked = link_notes(access_of(request), note_id, payload.to_entry_id, payload.relation_type, note=payload.note)
    return WireLink.of(linked)


@router.delete("/notes/{note_id}/links/{relation_type}/{to_id}", response=WireUnlinked, summary="Unlink")
def delete_link(
    request: HttpRequest, note_id: str, relation_type: str, to_id: str, filters: Query[UnlinkOptions]
) -> WireUnlinked:
    """Take a link back. What it had made outdated stays so unless `reactivate` is given."""
    done = unlink_notes(access_of(request), note_id, to_id, relation_type, reactivate=filters.reactivate)
    return WireUnlinked.of(done)


@router.post("/notes/{note_id}/merge", response=WireMergedEntry, summary="Merge notes")
def post_merge(request: HttpRequest, note_id: str, payload: Merge) -> WireMergedEntry:
    """Join the texts of other notes to this one, unite tags, sources and links, and supersede the others."""
    merged = merge_notes(access_of(request), note_id, payload.other_entry_ids, expected_version=payload.version)
    return WireMergedEntry.of_merge(merged, is_whole=True)


@router.post("/similar-notes", response=WireSimilarList, summary="Find similar notes")
def post_similar(request: HttpRequest, payload: SimilarQuestion) -> WireSimilarList:
    """Pairs of current notes that say much the same and are not linked yet; `autoLink` links them as related."""
    page = find_similar(access_of(request), **payload.dict())
    items = [WireSimilarPair.of(pair) for pair in page.pairs]
    return WireSimilarList(items=items, threshold=page.threshold, next_cursor=page.next_cursor)


@router.post("/sources/check", response=dict[str, bool], summary="Check sources")
def post_source_check(request: HttpRequest, payload: SourceQuestion) -> dict[str, bool]:
    """Whether each of the references is known: a note or memory came from it."""
    return notes.check_sources(
        access_of(request), source_type=payload.source_type, refs=payload.source_refs, project=payload.project
    )
