"""Projects, topics and notes over REST: names in camelCase, otherwise those of the tools (`memories.note_wire`)."""

from django.http import HttpRequest, HttpResponse
from ninja import Query, Status

from core.rest import Cursor, RestBody, RestQuery, WireRouter
from core.wire import WireModel
from memories import notes
from memories.entries import read_entry
from memories.link_wire import WireListedProject, WireProject, WireTopic
from memories.note_wire import (
    WireEntryPage,
    WireFoundEntry,
    WireReadEntry,
    WireVersion,
    WireVersionDetail,
    WireWrittenEntry,
)
from memories.search.entries import search_entries
from memories.services.notes import delete_note, restore_note, update_note, upsert_note
from spaces.rest import access_of
from spaces.services.projects import create_project, projects_of, update_project

router = WireRouter(tags=["Notes"])


class NewProject(RestBody):
    """A project to make; its key is made of its name."""

    name: str
    sensitivity_level: str
    description: str | None = None


class ProjectChange(RestBody):
    """What shall be different; what is left out stays."""

    name: str | None = None
    sensitivity_level: str | None = None
    description: str | None = None


class NoteSource(RestBody):
    """Something outside that a note came from."""

    type: str
    ref: str


class NoteText(RestBody):
    """A note as it shall be; topic and title say which. `version` is the one that was read, 0 that it must be new."""

    subtopic: str | None = None
    title: str
    body_markdown: str
    tags: list[str] | None = None
    sources: list[NoteSource] | None = None
    follow_up_status: str | None = None
    status: str | None = None
    version: int | None = None


class NoteChange(RestBody):
    """What shall be different; another title renames, another topic moves. `version` is the one that was read."""

    subtopic: str | None = None
    title: str | None = None
    body_markdown: str | None = None
    tags: list[str] | None = None
    sources: list[NoteSource] | None = None
    follow_up_status: str | None = None
    status: str | None = None
    version: int | None = None


class NoteRestore(RestBody):
    """Which older version shall be the newest; left out, a deletion is undone. `version` is the one that was read."""

    to_version: int | None = None
    version: int | None = None


class NoteSearch(RestBody):
    """What to look for; without a project in all, without a query what has one of the tags."""

    query: str | None = None
    project: str | None = None
    subtopic: str | None = None
    tags: list[str] | None = None
    limit: int = 10


class NoteFilters(RestQuery):
    subtopic: str | None = None
    tag: list[str] | None = None
    status: str = "current"
    deleted: bool = False
    cursor: Cursor | None = None
    limit: int = 10


class TopicFilter(RestQuery):
    subtopic: str | None = None


class OpenFilters(RestQuery):
    project: str | None = None
    cursor: Cursor | None = None
    limit: int = 10


class DeletionReason(RestQuery):
    reason: str | None = None


class VersionFilters(RestQuery):
    limit: int = notes.DEFAULT_VERSIONS


class WireFoundEntries(WireModel):
    """What was found, best first, in `searched` of `reachable` projects; `degraded` names what did not answer."""

    items: list[WireFoundEntry]
    searched: int
    reachable: int
    degraded: list[str]


@router.get("/projects", response=list[WireListedProject], summary="List projects")
def get_projects(request: HttpRequest) -> list[WireListedProject]:
    """The projects of this key by name, with what may be done in each."""
    access = access_of(request)
    return WireListedProject.of_all(access, projects_of(access), notes.note_counts(access))


@router.post("/projects", response={201: WireProject}, summary="Create a project")
def post_project(request: HttpRequest, payload: NewProject) -> Status[WireProject]:
    """Make a project that this key can write to at once and its person manages. 409 when its key is taken."""
    made = create_project(
        access_of(request),
        name=payload.name,
        sensitivity=payload.sensitivity_level,
        description=payload.description,
    )
    return Status(201, WireProject.of(made))


@router.patch("/projects/{project}", response=WireProject, summary="Change a project")
def patch_project(request: HttpRequest, project: str, payload: ProjectChange) -> WireProject:
    """Rename a project, describe it, or say how careful one must be with it. For its managers; its key stays."""
    changed = update_project(
        access_of(request),
        project,
        name=payload.name,
        description=payload.description,
        sensitivity=payload.sensitivity_level,
    )
    return WireProject.of(changed)


@router.get("/projects/{project}/topics", response=list[WireTopic], summary="List topics")
def get_topics(request: HttpRequest, project: str, filters: Query[TopicFilter]) -> list[WireTopic]:
    """The topics of a project, or one with those below it, by path, with the number of current notes."""
    found = notes.list_topics(access_of(request), project=project, topic=filters.subtopic)
    return [WireTopic.of(topic) for topic in found]


@router.get("/projects/{project}/notes", response=WireEntryPage, summary="List notes")
def get_notes(request: HttpRequest, project: str, filters: Query[NoteFilters]) -> WireEntryPage:
    """Notes of a project, or of a topic and everything below it, last changed first, without their texts. `status` is
    `current`, `outdated` or `any`; `tag` may be repeated, one of them is enough; `deleted` lists deleted notes."""
    page = notes.list_notes(
        access_of(request),
        project=project,
        topic=filters.subtopic,
        status=None if filters.status == "any" else filters.status,
        tags=filters.tag,
        deleted=filters.deleted,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    return WireEntryPage.of(page)


@router.put(
    "/projects/{project}/notes", response={200: WireWrittenEntry, 201: WireWrittenEntry}, summary="Write a note"
)
def put_note(request: HttpRequest, response: HttpResponse, project: str, payload: NoteText) -> Status[WireWrittenEntry]:
    """Write the note that topic and title name, or make it, with its topics. 201 when it was made; 409 when `version`
    is not the newest, with the note as it is and the text that was not stored."""
    written = upsert_note(
        access_of(request),
        project=project,
        topic=payload.subtopic,
        title=payload.title,
        text=payload.body_markdown,
        tags=payload.tags,
        sources=_sources(payload.sources),
        follow_up=payload.follow_up_status,
        status=payload.status,
        expected_version=payload.version,
    )
    response["Location"] = f"/api/v1/notes/{written.note.id}"
    return Status(201 if written.created else 200, WireWrittenEntry.of_write(written, is_whole=True))


@router.get("/follow-ups", response=WireEntryPage, summary="List what is open")
def get_follow_ups(request: HttpRequest, filters: Query[OpenFilters]) -> WireEntryPage:
    """Notes with something left to do, of one project or of all, outdated ones too, last changed first."""
    return WireEntryPage.of(notes.list_open(access_of(request), **filters.dict()))


@router.post("/notes/search", response=WireFoundEntries, summary="Search notes and facts")
def post_note_search(request: HttpRequest, payload: NoteSearch) -> WireFoundEntries:
    """Search notes and facts by meaning and words, in one project or in all, in a topic, by tags."""
    found = search_entries(
        access_of(request),
        query=payload.query,
        project=payload.project,
        topic=payload.subtopic,
        tags=payload.tags,
        limit=payload.limit,
    )
    return WireFoundEntries(
        items=[WireFoundEntry.of_found(entry) for entry in found.entries],
        searched=found.searched,
        reachable=found.reachable,
        degraded=list(found.degraded),
    )


@router.get("/notes/{note_id}", response=WireReadEntry, summary="One note")
def get_note(request: HttpRequest, note_id: str) -> WireReadEntry:
    """One note or fact of any project of this key, whole, with its sources."""
    return WireReadEntry.of(read_entry(access_of(request), note_id))


@router.patch("/notes/{note_id}", response=WireWrittenEntry, summary="Change a note")
def patch_note(request: HttpRequest, note_id: str, payload: NoteChange) -> WireWrittenEntry:
    """Change a note by its id: what is left out stays. 409 when `version` is not the newest, with both texts, or when
    another note has the new title in that topic."""
    written = update_note(
        access_of(request),
        note_id,
        title=payload.title,
        text=payload.body_markdown,
        topic=payload.subtopic,
        tags=payload.tags,
        sources=_sources(payload.sources),
        follow_up=payload.follow_up_status,
        status=payload.status,
        expected_version=payload.version,
    )
    return WireWrittenEntry.of_write(written, is_whole=True)


@router.delete("/notes/{note_id}", response={204: None}, summary="Delete a note")
def remove_note(request: HttpRequest, note_id: str, filters: Query[DeletionReason]) -> Status[None]:
    """Take a note out of everything; it can be restored."""
    delete_note(access_of(request), note_id, reason=filters.reason)
    return Status(204, None)


@router.post("/notes/{note_id}/restore", response=WireWrittenEntry, summary="Restore a note")
def post_note_restore(request: HttpRequest, note_id: str, payload: NoteRestore) -> WireWrittenEntry:
    """Bring a deleted note back, or make what an older version said the newest one, or both."""
    written = restore_note(access_of(request), note_id, version=payload.to_version, expected_version=payload.version)
    return WireWrittenEntry.of_write(written, is_whole=True)


@router.get("/notes/{note_id}/versions", response=list[WireVersion], summary="History of a note")
def get_versions(request: HttpRequest, note_id: str, filters: Query[VersionFilters]) -> list[WireVersion]:
    """The newest versions of a note, at most 200, with their commits."""
    found = notes.note_history(access_of(request), note_id, limit=filters.limit)
    return [WireVersion.of(version) for version in found]


@router.get("/notes/{note_id}/versions/{number}", response=WireVersionDetail, summary="One version")
def get_version(request: HttpRequest, note_id: str, number: int) -> WireVersionDetail:
    """What a note said in one of its versions."""
    return WireVersionDetail.of(notes.note_version(access_of(request), note_id, number))


def _sources(sources: list[NoteSource] | None) -> list[dict[str, str]] | None:
    return None if sources is None else [source.dict() for source in sources]
