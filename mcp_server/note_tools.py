"""Notes over MCP: the tools of memory-service under their names, and those that were missing there."""

from core.errors import Invalid
from core.paging import MAXIMUM_LIMIT
from mcp_server.parameters import Parameter
from mcp_server.registry import ListAnswer, Toolset, tool
from memories import notes
from memories.entries import read_entry
from memories.link_wire import WireListedProject, WireProject, WireTopic
from memories.note_wire import (
    WireDeleted,
    WireEntry,
    WireEntryDetail,
    WireFoundEntry,
    WireKnownSources,
    WireReadEntry,
    WireVersion,
    WireWrittenEntry,
    entries_of,
)
from memories.search.entries import FoundEntries, search_entries
from memories.services.notes import delete_note, restore_note, update_note, upsert_note
from spaces.access import AccessContext
from spaces.services.projects import create_project, projects_of

# Topics in one answer; a project with more is looked at branch by branch.
MAXIMUM_TOPICS = 500
_RESULT = "result"

_PROJECT = Parameter("project", "string", "Slug of the project, from memory_list_projects.", required=True)
_ANY_PROJECT = Parameter("project", "string", "Slug of a project; left out, all projects of this key.")
_ENTRY = Parameter("entry_id", "string", "Id of an entry, as every answer gives it.", required=True)
_VERSION = Parameter(
    "version", "integer", "The version you have read: refuses to write over a newer one. 0: it must be new."
)
_SEEN = Parameter("version", "integer", "The version you have read: refuses to write over a newer one.")
_CURSOR = Parameter("cursor", "string", "Goes on where an answer that had more ended; from that answer.")


@tool(
    Parameter("query", "string", "A question or topic, in any words; without one, what has one of the tags."),
    _ANY_PROJECT,
    Parameter("subtopic", "string", "Only this topic of the project and those below it."),
    Parameter("tags", "array", "Only notes with one of these tags, at least."),
    Parameter("limit", "integer", "How many entries, at most 50.", default=10),
    title="Search notes and facts",
    output=WireFoundEntry,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_search(
    access: AccessContext,
    query: str | None,
    project: str | None,
    subtopic: str | None,
    tags: list[str] | None,
    limit: int,
) -> ListAnswer:
    """Searches notes and facts by meaning and words, best first: in one project, or in all of this key. `kind` tells
    which they are; an outdated one says so in `status`. Each has project, subtopic and title, which memory_upsert
    needs as they are, and its id for memory_read, which gives the whole text."""
    found = search_entries(access, query=query, project=project, topic=subtopic, tags=tags, limit=limit)
    return ListAnswer([WireFoundEntry.of_found(entry) for entry in found.entries], remark=_remark(found))


def _remark(found: FoundEntries) -> str | None:
    sentences = []
    if found.searched < found.reachable:
        sentences.append(f"Searched {found.searched} of {found.reachable} projects; name one to search another.")
    if found.degraded:
        sentences.append("Search by meaning did not answer, so only words were searched.")
    return " ".join(sentences) or None


@tool(
    _PROJECT,
    Parameter("subtopic", "string", "A topic such as estrich/material, with all below it; left out, everything."),
    _CURSOR,
    title="Read notes",
    output=WireEntryDetail,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_get(access: AccessContext, project: str, subtopic: str | None, cursor: str | None) -> ListAnswer:
    """Reads the current notes of a project, or of one topic and everything below it, last changed first, with their
    texts. Call it before you answer about a project and before you write: what is there may be updated instead of told
    again. When the answer is long, texts are cut (text_truncated); memory_read gives the whole."""
    page = notes.list_notes(access, project=project, topic=subtopic, cursor=cursor, limit=MAXIMUM_LIMIT)
    return ListAnswer(entries_of(page.items), page.next_cursor)


@tool(
    _PROJECT,
    Parameter(
        "subtopic",
        "string",
        "Where it stands: exactly as an earlier answer gave it, or a new path; blank means the inbox.",
        required=True,
    ),
    Parameter("title", "string", "Names the note in its topic; the same title again updates it.", required=True),
    Parameter("body_markdown", "string", "The whole text in Markdown; it replaces what was there.", required=True),
    Parameter("sources", "array", "What it comes from; they are added to those known.", fields=("type", "ref")),
    Parameter("tags", "array", "Replaces all tags, [] removes them; left out, they stay."),
    Parameter("follow_up_status", "string", "open, waiting or none (offen, wartet); left out, it stays."),
    Parameter("status", "string", "outdated, or current again (veraltet, aktuell); left out, it stays."),
    _VERSION,
    title="Write a note",
    output=WireWrittenEntry,
    toolset=Toolset.NOTES,
    idempotent=True,
    destructive=True,
)
def memory_upsert(
    access: AccessContext,
    project: str,
    subtopic: str,
    title: str,
    body_markdown: str,
    sources: list[dict[str, str]] | None,
    tags: list[str] | None,
    follow_up_status: str | None,
    status: str | None,
    version: int | None,
) -> WireWrittenEntry:
    """Writes a note, or makes it: project, subtopic and title say which. To update one, pass back the subtopic that
    memory_get or memory_search gave, letter by letter: a guess makes a second note (see `created`, `new_subtopics`).
    Earlier texts stay in the history. For a note that says much the same as another, link them (same_as) or merge them
    instead of writing a third."""
    return WireWrittenEntry.of_write(
        upsert_note(
            access,
            project=project,
            topic=subtopic,
            title=title,
            text=body_markdown,
            tags=tags,
            sources=sources,
            follow_up=follow_up_status,
            status=status,
            expected_version=version,
        )
    )


@tool(
    _ANY_PROJECT,
    _CURSOR,
    title="List what is open",
    output=WireEntry,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_list_open(access: AccessContext, project: str | None, cursor: str | None) -> ListAnswer:
    """Lists the notes that somebody still has to do something about (open) or waits for (waiting), outdated ones too,
    last changed first. Set or clear it with follow_up_status of memory_upsert."""
    page = notes.list_open(access, project=project, cursor=cursor, limit=MAXIMUM_LIMIT)
    return ListAnswer([WireEntry.of(note) for note in page.items], page.next_cursor)


@tool(
    _ENTRY,
    Parameter("limit", "integer", "How many versions, from 1 to 200.", default=20),
    title="History of a note",
    output=WireVersion,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_history(access: AccessContext, entry_id: str, limit: int) -> list[WireVersion]:
    """Lists the versions of a note, newest first: when, by whom, in which commit. memory_read with a version's number
    tells what it said, memory_restore brings it back."""
    return [WireVersion.of(version) for version in notes.note_history(access, entry_id, limit=limit)]


@tool(
    _ENTRY,
    Parameter("reason", "string", "Why it is deleted, in a sentence."),
    title="Delete a note",
    output=WireDeleted,
    toolset=Toolset.NOTES,
    destructive=True,
)
def memory_delete_entry(access: AccessContext, entry_id: str, reason: str | None) -> WireDeleted:
    """Deletes a note, for those written by mistake. One that holds no more is not deleted: set its status to outdated,
    or link the new note to it with supersedes. memory_restore takes a deletion back."""
    delete_note(access, entry_id, reason=reason)
    return WireDeleted(id=entry_id)


@tool(
    Parameter("source_type", "string", "Such as mail, whatsapp, signal, paperless, document.", required=True),
    Parameter("source_refs", "array", "References to look up, at most 1,000.", required=True),
    _ANY_PROJECT,
    title="Check sources",
    output=WireKnownSources,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_check_sources(
    access: AccessContext, source_type: str, source_refs: list[str], project: str | None
) -> WireKnownSources:
    """Tells of each reference whether a note came from it already. Ask before reading mails or files into notes, and
    skip those that are known; give memory_upsert the references of what you do read."""
    known = notes.check_sources(access, source_type=source_type, refs=source_refs, project=project)
    return WireKnownSources.model_validate(known)


@tool(
    Parameter("name", "string", "What people call it; its slug is made of it and stays.", required=True),
    Parameter("sensitivity_level", "string", "low, medium or high (niedrig, mittel, hoch).", required=True),
    Parameter("description", "string", "What belongs here, in a sentence or two."),
    title="Create a project",
    output=WireProject,
    toolset=Toolset.NOTES,
)
def memory_create_project(
    access: AccessContext, name: str, sensitivity_level: str, description: str | None
) -> WireProject:
    """Makes a new project that this key can write to at once. Ask the person first, and look in memory_list_projects:
    projects are few, and topics inside one come into being by writing to them. Changing projects is done by people."""
    return WireProject.of(create_project(access, name=name, sensitivity=sensitivity_level, description=description))


@tool(
    _ENTRY,
    Parameter("version", "integer", "Number of an older version from memory_history; left out, as it is now."),
    Parameter("offset", "integer", "Where to begin in the text; next_offset of the part before.", default=0),
    title="Read one entry",
    output=WireReadEntry,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_read(access: AccessContext, entry_id: str, version: int | None, offset: int) -> WireReadEntry:
    """Reads one note or fact by its id, whatever its status, with its sources; or what a note said in an older version.
    A long text comes in parts: call again with offset set to next_offset."""
    return WireReadEntry.of(read_entry(access, entry_id, version=version)).part(offset)


@tool(
    title="List projects",
    output=WireListedProject,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_list_projects(access: AccessContext) -> list[WireListedProject]:
    """Lists the projects of this key with their slugs, what may be done in each, how careful one must be with what it
    holds, and how many current notes there are."""
    return WireListedProject.of_all(access, projects_of(access), notes.note_counts(access))


@tool(
    _PROJECT,
    Parameter("subtopic", "string", "Only this topic and those below it."),
    title="List topics",
    output=WireTopic,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_list_topics(access: AccessContext, project: str, subtopic: str | None) -> ListAnswer:
    """Lists the topics of a project by path, with the number of current notes in each and below it. Look here before
    you write to a path of your own: a topic with another spelling is another topic."""
    topics = notes.list_topics(access, project=project, topic=subtopic)
    remark = None
    if len(topics) > MAXIMUM_TOPICS:
        remark = f"The first {MAXIMUM_TOPICS} of {len(topics):,} topics; name a subtopic to see those below it."
    return ListAnswer([WireTopic.of(topic) for topic in topics[:MAXIMUM_TOPICS]], remark=remark)


@tool(
    _ENTRY,
    Parameter("subtopic", "string", "The topic it shall stand in; left out, it stays where it is."),
    Parameter("title", "string", "The title it shall have; left out, it keeps its own."),
    _SEEN,
    title="Move or rename a note",
    output=WireWrittenEntry,
    toolset=Toolset.NOTES,
    idempotent=True,
    destructive=True,
)
def memory_move(
    access: AccessContext, entry_id: str, subtopic: str | None, title: str | None, version: int | None
) -> WireWrittenEntry:
    """Moves a note to another topic of its project, gives it another title, or both. Id, links and history stay with
    it. Refused when another note has that title there."""
    if subtopic is None and title is None:
        raise Invalid("Give a subtopic, a title, or both: nothing else is changed by memory_move.")
    return WireWrittenEntry.of_write(
        update_note(access, entry_id, topic=subtopic, title=title, expected_version=version)
    )


@tool(
    _ENTRY,
    Parameter("to_version", "integer", "Number of an older version from memory_history; left out, undo a deletion."),
    _SEEN,
    title="Restore a note",
    output=WireWrittenEntry,
    toolset=Toolset.NOTES,
    idempotent=True,
    destructive=True,
)
def memory_restore(
    access: AccessContext, entry_id: str, to_version: int | None, version: int | None
) -> WireWrittenEntry:
    """Brings a deleted note back, or makes title and text of an older version the newest one, or both. Nothing of the
    history is lost by it."""
    return WireWrittenEntry.of_write(restore_note(access, entry_id, version=to_version, expected_version=version))
