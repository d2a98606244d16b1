"""Search over notes and facts as memory-service has it: in one project or in all, in a topic, by tags.

    found = search_entries(access, query="Wann ist der Estrich trocken?", project="ferienhaus", tags=["bau"])
    found = search_entries(access, tags=["bau", "dach"])        # without a query: what carries one of the tags

Each project is searched by the one service of search. Its scores stretch the cosine between the nearest and the
farthest candidate of its own space; to put several into one order, that part is stretched anew between those of all.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.errors import Invalid
from core.paging import DEFAULT_LIMIT, MAXIMUM_LIMIT
from core.text import clean_text, is_blank
from memories.models import Memory, MemoryQuerySet, MemoryTag
from memories.search.fusion import MAXIMUM, stretched
from memories.search.results import Match, SearchResult
from memories.search.service import MAXIMUM_QUERY, search
from memories.services.note_fields import clean_tags
from memories.services.terms import plain_words
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import Topic
from spaces.services.topics import find_topic

# Projects searched by one question, those of the key's grants in their order, the active one first.
MAXIMUM_SPACES = 20
# Characters of a text that are looked through for the first word of the question.
_LOOKED_THROUGH = 20_000
_SHORTEST_SHOWN = 3


@dataclass(frozen=True)
class FoundEntry:
    """A note or fact with its topic, tags and people; `score` is None where tags were browsed."""

    project: str
    match: Match
    score: float | None


@dataclass(frozen=True)
class FoundEntries:
    """What was found, best first, in `searched` of `reachable` projects; `degraded` as in `SearchResult`."""

    entries: Sequence[FoundEntry]
    searched: int
    reachable: int
    degraded: tuple[str, ...] = ()


def search_entries(
    access: AccessContext,
    *,
    query: str | None = None,
    project: str | None = None,
    topic: str | None = None,
    tags: Sequence[str] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> FoundEntries:
    """Notes and facts of one project, or of all that the caller has, by meaning and words.

    `topic` means it and everything below it, `tags` one of them at least; facts have neither. A blank query lists what
    carries one of the tags, last changed first, and nothing without tags. A limit of 0 finds nothing, above 50 is 50.
    Outdated notes are found and say so. At most nine queries a project, and four.

    Raises `NotFound` for project and topic, `Invalid` for the rest, `ProviderUnavailable` when it took too long.
    """
    if limit < 0:
        raise Invalid("limit must not be negative.")
    question = clean_text(query, "query", maximum=MAXIMUM_QUERY, required=False)
    names = tuple(clean_tags(tags)) if tags is not None else ()
    space = access.space(project, parameter="project") if project is not None else None
    is_in_topic = topic is not None and bool(topic.strip())
    if space is None and is_in_topic:
        raise Invalid("subtopic can only be given with a project: topics of several projects have nothing in common.")
    topics = _topics(space, topic) if space is not None and is_in_topic else None
    spaces = [space] if space is not None else _in_order(access)
    reachable = 1 if space is not None else len(access.spaces)
    if limit == 0 or (is_blank(question) and not names):
        return FoundEntries([], len(spaces), reachable)
    limit = min(limit, MAXIMUM_LIMIT)
    if is_blank(question):
        return FoundEntries(_browse(access, space, topics, names, limit), reachable, reachable)
    results = [
        search(
            access,
            query=question,
            container_tag=searched.key,
            topics=topics,
            tags=names,
            include_profile=False,
            limit=limit,
        )
        for searched in spaces
    ]
    degraded = tuple(sorted({leg for result in results for leg in result.degraded}))
    entries = _with_everything(access, _fused(results)[:limit], question)
    return FoundEntries(entries, len(spaces), reachable, degraded)


def _in_order(access: AccessContext) -> Sequence[SpaceAccess]:
    return sorted(access.spaces, key=lambda space: not space.is_default)[:MAXIMUM_SPACES]


def _topics(space: SpaceAccess, topic: str | None) -> tuple[uuid.UUID, ...]:
    with bound(space):
        place = find_topic(space, topic)
        return tuple(Topic.objects.in_space(space).at_or_below(place.path).values_list("id", flat=True))


def _browse(
    access: AccessContext,
    space: SpaceAccess | None,
    topics: Sequence[uuid.UUID] | None,
    names: Sequence[str],
    limit: int,
) -> list[FoundEntry]:
    keys = {reached.id: reached.key for reached in access.spaces}
    with bound(space or access):
        rows = Memory.objects.in_space(space) if space is not None else Memory.objects.in_any_space(access)
        tags = MemoryTag.objects.in_space(space) if space is not None else MemoryTag.objects.in_any_space(access)
        rows = rows.active().filter(id__in=tags.filter(name__in=names).values("memory_id"))
        if topics is not None:
            rows = rows.filter(topic__in=topics)
        found = _whole(rows).order_by("-updated_at", "-id")[:limit]
        return [FoundEntry(keys[m.space_id], Match(m, 0.0, {}), None) for m in found if m.space_id in keys]


def _whole(rows: MemoryQuerySet) -> MemoryQuerySet:
    """With topic, tags and last changer: two queries."""
    return rows.select_related("topic", "updated_by").prefetch_related("tags")


def _fused(results: Sequence[SearchResult]) -> list[FoundEntry]:
    """The matches of several projects in one order; equal ones as each project has them."""
    extremes = [result.extremes for result in results if result.extremes is not None]
    overall = (min(low for low, _ in extremes), max(high for _, high in extremes)) if extremes else None
    entries = []
    for result in results:
        for match in result.matches:
            cosine = match.scores.get("vector")
            moved = stretched(cosine, overall) - stretched(cosine, result.extremes)
            score = min(max(match.score + moved / MAXIMUM, 0.0), 1.0)
            entries.append(FoundEntry(result.searched_space.key, match, score))
    return sorted(entries, key=lambda entry: -(entry.score or 0.0))


def _with_everything(access: AccessContext, entries: Sequence[FoundEntry], question: str) -> list[FoundEntry]:
    """With topic, tags and last changer, and where in the text the question is met. Two queries."""
    with bound(access):
        ids = [entry.match.memory.id for entry in entries]
        rows = _whole(Memory.objects.in_any_space(access)).in_bulk(ids)
    words = {word for word in plain_words(question).split() if len(word) >= _SHORTEST_SHOWN}
    return [
        replace(
            entry,
            match=replace(
                entry.match,
                memory=rows[entry.match.memory.id],
                passage=entry.match.passage or _first_word(rows[entry.match.memory.id].text, words),
            ),
        )
        for entry in entries
        # Deleted a moment ago.
        if entry.match.memory.id in rows
    ]


def _first_word(text: str, words: set[str]) -> tuple[int, int] | None:
    beginning = text[:_LOOKED_THROUGH].casefold()
    places = [(beginning.find(word), len(word)) for word in words]
    first, length = min((place for place in places if place[0] >= 0), default=(-1, 0))
    return (first, first + length) if first >= 0 else None
