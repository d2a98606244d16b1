"""Links between notes over MCP, notes that say the same, and making one of several."""

from mcp_server.parameters import Parameter
from mcp_server.registry import ListAnswer, Toolset, tool
from memories.link_wire import WireLink, WireRelated, WireSimilarPair, WireUnlinked
from memories.models import RelationType
from memories.note_wire import WireMergedEntry
from memories.services.links import get_related, link_notes, unlink_notes
from memories.services.merge import merge_notes
from memories.services.similar_notes import find_similar
from spaces.access import AccessContext

_RESULT = "result"
# Of notes, and those that only facts have.
_OF_NOTES = [kind.link_name for kind in RelationType if kind not in (RelationType.EXTENDS, RelationType.DERIVES)]
_FROM = Parameter("from_entry_id", "string", "Id of the entry that acts on the other one.", required=True)
_TO = Parameter("to_entry_id", "string", "Id of the other entry.", required=True)
_TYPE = Parameter("relation_type", "string", f"{', '.join(_OF_NOTES)}.", required=True)


@tool(
    _FROM,
    _TO,
    _TYPE,
    Parameter("note", "string", "Why, in a sentence; linked again without one, the old one goes."),
    title="Link two entries",
    output=WireLink,
    toolset=Toolset.NOTES,
    idempotent=True,
    destructive=True,
)
def memory_link_entries(
    access: AccessContext, from_entry_id: str, to_entry_id: str, relation_type: str, note: str | None
) -> WireLink:
    """Links two notes or facts of one project, in one direction. same_as says that both are about the same thing, and
    is better than a second note about it. supersedes makes the other note outdated (a fact is forgotten); search says
    so and memory_get leaves it out."""
    return WireLink.of(link_notes(access, from_entry_id, to_entry_id, relation_type, note=note))


@tool(
    _FROM,
    _TO,
    _TYPE,
    Parameter("reactivate", "boolean", "Make current again what supersedes had made outdated.", default=False),
    title="Unlink two entries",
    output=WireUnlinked,
    toolset=Toolset.NOTES,
    idempotent=True,
    destructive=True,
)
def memory_unlink_entries(
    access: AccessContext, from_entry_id: str, to_entry_id: str, relation_type: str, reactivate: bool
) -> WireUnlinked:
    """Takes a link back; direction and type must be those it has. What supersedes had made outdated stays so unless
    reactivate is given. Where there is no such link, nothing happens."""
    return WireUnlinked.of(unlink_notes(access, from_entry_id, to_entry_id, relation_type, reactivate=reactivate))


@tool(
    Parameter("entry_id", "string", "Id of an entry, as every answer gives it.", required=True),
    title="What an entry is linked to",
    output=WireRelated,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
    read_only=True,
)
def memory_get_related(access: AccessContext, entry_id: str) -> list[WireRelated]:
    """Lists what a note or fact is linked to, in both directions, outdated entries too: outgoing when it acts on the
    other one. memory_read reads them."""
    return [WireRelated.of(related) for related in get_related(access, entry_id)]


@tool(
    Parameter("project", "string", "Slug of a project; left out, each project of this key by itself."),
    Parameter("threshold", "number", "How alike, up to 1.0; left out, what the embedding model takes for the same."),
    Parameter("auto_link", "boolean", "Link the pairs as related_to.", default=False),
    Parameter("cursor", "string", "Goes on where an answer that had more ended; from that answer, with its project."),
    title="Find similar notes",
    output=WireSimilarPair,
    list_name=_RESULT,
    toolset=Toolset.NOTES,
)
def memory_find_similar(
    access: AccessContext, project: str | None, threshold: float | None, auto_link: bool, cursor: str | None
) -> ListAnswer:
    """Finds pairs of current notes that say much the same and are not linked yet, the most alike first. It only reports
    unless auto_link is given. Read both before you decide: memory_merge for the same, memory_link_entries else."""
    page = find_similar(access, project=project, threshold=threshold, auto_link=auto_link, cursor=cursor)
    return ListAnswer([WireSimilarPair.of(pair) for pair in page.pairs], page.next_cursor)


@tool(
    Parameter("entry_id", "string", "Id of the note that stays.", required=True),
    Parameter("other_entry_ids", "array", "Ids of the notes it takes in, at most 20 of its project.", required=True),
    Parameter("version", "integer", "The version of the first that you have read: refuses to write over a newer one."),
    title="Merge notes",
    output=WireMergedEntry,
    toolset=Toolset.NOTES,
    destructive=True,
)
def memory_merge(
    access: AccessContext, entry_id: str, other_entry_ids: list[str], version: int | None
) -> WireMergedEntry:
    """Makes one note of several: texts are joined under their titles, tags, sources and links united. The others become
    outdated and superseded by the first. Afterwards rewrite the joined text with memory_upsert."""
    return WireMergedEntry.of_merge(merge_notes(access, entry_id, other_entry_ids, expected_version=version))
