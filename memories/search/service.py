"""Search of one space: the one way in for MCP, REST, the web and the services.

A search by `query` takes at most seven queries, whatever it finds: which model it is made by, facts, words led to known
ones (only when the space does not know one), candidates, neighbours, links of the first matches (only when the space
has links), and the memories themselves; an eighth when their texts are too long for one answer. By `keyword` it takes
at most five, by `category` at most four.
"""

import logging
import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.backends.utils import CursorWrapper

from core.errors import Invalid, ProviderUnavailable
from core.paging import DEFAULT_LIMIT, clamp_limit
from core.text import clean_text, is_blank, optional_line
from memories.embedding.base import Embedder, Vector
from memories.embedding.registry import ModelSpec
from memories.embedding.service import embed_query_cached
from memories.models import MAXIMUM_CATEGORY, Memory
from memories.search.facts import Facts, read_facts, reading
from memories.search.filters import Filter
from memories.search.fusion import Candidate, alone, fuse
from memories.search.keyword import find_by_keyword
from memories.search.legs import Candidates, Meaning, Question, find_candidates
from memories.search.neighbours import BEST, find_neighbours
from memories.search.passage import best_passage, read_closeness, too_long, with_passages
from memories.search.related import ENRICHED_MATCHES, Link, find_links
from memories.search.results import Match, RelatedMemory, SearchResult
from memories.search.similar import similar_statements
from memories.search.vocabulary import Expansion, expand
from memories.search.words import weigh
from memories.services.searched_model import searched_embedder
from memories.services.terms import SplitText, fold_umlauts, plain_words, split_words
from spaces.access import AccessContext, SpaceAccess

__all__ = ["search", "similar_statements"]

logger = logging.getLogger(__name__)

MAXIMUM_QUERY = 10_000
MAXIMUM_KEYWORD = 500
# What keyword and category matches score, as in the reference system.
CONSTANT_SCORE = 1.0
# "Ada: …" at the beginning of a memory names who speaks in it.
_MOST_NAME_WORDS = 4
_SPEAKER = re.compile(r"\s*([^\W\d_][^\n:]{0,60}):\s")

# Of people only the name: reading all that is known of authors takes as long as reading the memories.
_SHOWN = [field.name for field in Memory._meta.concrete_fields if field.name not in ("content_hash", "term_total")]
_SHOWN += ["created_by__display_name", "updated_by__display_name"]


@dataclass(frozen=True)
class _Ranked:
    """A memory in the order of the answer."""

    id: uuid.UUID
    score: float
    scores: dict[str, float]


def search(
    access: AccessContext,
    *,
    query: str | None = None,
    keyword: str | None = None,
    category: str | None = None,
    include_profile: bool = True,
    container_tag: str | None = None,
    topics: tuple[uuid.UUID, ...] | None = None,
    tags: Sequence[str] = (),
    limit: int = DEFAULT_LIMIT,
    embedder: Embedder | None = None,
) -> SearchResult:
    """Active memories of one space, best first.

    `query` searches by meaning and words and wins over `keyword`, which finds it as it is or misspelt; `category`
    narrows either, or lists its newest memories alone; `topics` and `tags` narrow them to notes in one of the topics
    and with one of the tags, as they are stored. Blank is absent. A `limit` of 0 or less means 10, above 50
    means 50. `embedder` takes the place of the model that is searched by, to compare what they find.

    Raises `NotFound` and `AccessDenied` for the space, `Invalid` for the input, `ProviderUnavailable` when the
    database took too long. An embedding provider that does not answer is no error: words are searched, and `degraded`
    says so.
    """
    space = access.space(container_tag)
    query = _criterion(query, "query", MAXIMUM_QUERY)
    keyword = _criterion(keyword, "keyword", MAXIMUM_KEYWORD)
    category = optional_line(_criterion(category, "category", MAXIMUM_CATEGORY), "category", maximum=MAXIMUM_CATEGORY)
    if query is None and keyword is None and category is None:
        raise Invalid("At least one of query, keyword and category is needed.")
    scope = _Scope(space, Filter(category, topics, tuple(tags) if tags else None), clamp_limit(limit), include_profile)
    if query is not None:
        return _by_query(scope, query, embedder)
    if keyword is not None:
        return _by_keyword(scope, keyword)
    return _by_category(scope)


@dataclass(frozen=True)
class _Scope:
    """Where and how much is searched."""

    space: SpaceAccess
    filter: Filter
    limit: int
    with_profile: bool

    def facts(self, cursor: CursorWrapper, asked: SplitText, spec: ModelSpec | None = None) -> Facts:
        return read_facts(
            cursor, self.space, asked=asked, spec=spec, filter=self.filter, with_profile=self.with_profile
        )

    def result(
        self,
        cursor: CursorWrapper,
        ranked: Sequence[_Ranked],
        facts: Facts,
        *,
        legs: tuple[str, ...],
        degraded: tuple[str, ...] = (),
    ) -> SearchResult:
        """The answer: what the first matches are linked to, and everything it shows, in two queries."""
        roots = [row.id for row in ranked[:ENRICHED_MATCHES]] if facts.has_links else []
        links = find_links(cursor, self.space, roots)
        ids = {row.id for row in ranked} | {link.node for link in links} | set(facts.profile_ids)
        rows = Memory.objects.in_space(self.space).select_related("created_by", "updated_by").filter(id__in=ids)
        memories = {memory.id: memory for memory in rows.only(*_SHOWN).order_by()}
        return SearchResult(
            matches=[
                Match(memories[row.id], row.score, row.scores, _related(row.id, links, memories))
                for row in ranked
                # Forgotten a moment ago.
                if row.id in memories and memories[row.id].is_active
            ],
            profile=[memories[i] for i in facts.profile_ids if i in memories] if self.with_profile else None,
            searched_space=self.space,
            legs=legs,
            degraded=degraded,
            pending_embeddings=facts.pending_embeddings,
        )


def _criterion(value: str | None, field: str, maximum: int) -> str | None:
    text = clean_text(value, field, maximum=maximum, required=False)
    return None if is_blank(text) else text.strip()


def _by_query(scope: _Scope, query: str, embedder: Embedder | None) -> SearchResult:
    spec, vector, degraded = _embed(query, embedder)
    asked = split_words(query, scope.space.language)
    legs = ("vector", "words") if vector is not None else ("words",)
    with reading(scope.space) as cursor:
        facts = scope.facts(cursor, asked, spec)
        literal: list[str] = []
        expansions: Mapping[str, Sequence[Expansion]] = {}
        if facts.memory_counts:
            expansions = expand(
                cursor, scope.space, [word for word in facts.spelt_words if facts.memory_counts[word] <= 0]
            )
        else:
            # Nothing but stop words or signs: the text itself is all that can be looked for.
            literal = _literally(cursor, scope, query)
        if expansions or not facts.memory_counts:
            legs = (*legs, "literal")
        meaning = None
        if vector is not None and facts.model_id is not None:
            meaning = Meaning(vector, facts.model_id, facts.uses_index)
        question = Question(scope.space, scope.filter, meaning, weigh(facts, expansions))
        ranked, found = _rank(cursor, question, query, literal, scope.limit, has_links=facts.has_links)
        result = replace(scope.result(cursor, ranked, facts, legs=legs, degraded=degraded), extremes=found.extremes)
        long = too_long(result)
        closeness = read_closeness(cursor, scope.space, meaning, long)
    terms = {term.term: term.weight for term in question.words.terms}
    return with_passages(result, long, lambda memory: best_passage(memory.text, spec, closeness[memory.id], terms))


def _embed(query: str, embedder: Embedder | None) -> tuple[ModelSpec | None, Vector | None, tuple[str, ...]]:
    """Model and vector of a question, before any transaction; neither when embeddings are off or do not answer."""
    try:
        embedder = embedder or searched_embedder()
        if embedder is None:
            return None, None, ()
        return embedder.spec, embed_query_cached(embedder, query), ()
    except ProviderUnavailable as error:
        logger.warning("searching without meaning: %s", error.message)
        return None, None, ("vector",)


def _rank(
    cursor: CursorWrapper, question: Question, query: str, literal: Collection[str], limit: int, *, has_links: bool
) -> tuple[list[_Ranked], Candidates]:
    found = find_candidates(cursor, question, literal=literal, at_least=limit, keep=limit + BEST)
    by_itself = alone(found.best, found.extremes)
    best = sorted(found.best, key=lambda candidate: (-by_itself[candidate.id], candidate.id))[:BEST]
    neighbourhood = find_neighbours(cursor, question, best, list(by_itself), has_links=has_links)
    by_itself |= alone(neighbourhood.fresh, found.extremes)
    candidates = found.best + [candidate for candidate in neighbourhood.fresh if _scores(candidate)]
    named = _named(candidates, _words_of(query))
    ordered = fuse(candidates, by_itself, neighbourhood.beside, named)
    ranked = [_Ranked(uuid.UUID(candidate.id), score, _scores(candidate)) for candidate, score in ordered[:limit]]
    return ranked, found


def _named(candidates: Sequence[Candidate], asked: set[str]) -> set[str]:
    """Those whose author, or who speaks at their beginning, the question names with all words of the name."""
    is_asked: dict[str, bool] = {}

    def names(name: str) -> bool:
        if name not in is_asked:
            words = _words_of(name)
            is_asked[name] = 0 < len(words) <= _MOST_NAME_WORDS and asked.issuperset(words)
        return is_asked[name]

    named: set[str] = set()
    for candidate in candidates:
        speaker = _SPEAKER.match(candidate.beginning)
        if names(candidate.author) or (speaker is not None and names(speaker.group(1))):
            named.add(candidate.id)
    return named


def _words_of(text: str) -> set[str]:
    return {fold_umlauts(word) for word in plain_words(text).split()}


def _scores(candidate: Candidate) -> dict[str, float]:
    scores = {"vector": candidate.cosine, "words": candidate.words or None, "literal": candidate.literal or None}
    return {leg: value for leg, value in scores.items() if value is not None}


def _by_keyword(scope: _Scope, keyword: str) -> SearchResult:
    asked = split_words(keyword, scope.space.language)
    with reading(scope.space) as cursor:
        facts = scope.facts(cursor, asked)
        found = find_by_keyword(
            cursor,
            scope.space,
            keyword,
            memory_counts=facts.memory_counts,
            # Known words too: the memory may be what is misspelt.
            expansions=expand(cursor, scope.space, facts.spelt_words),
            filter=scope.filter,
            limit=scope.limit,
        )
        ranked = [_Ranked(row.id, CONSTANT_SCORE, {"literal": 1.0} if row.is_literal else {}) for row in found]
        result = scope.result(cursor, ranked, facts, legs=("words", "literal"))
    terms = dict.fromkeys(facts.memory_counts, 1.0)
    return with_passages(
        result, too_long(result), lambda memory: best_passage(memory.text, None, {}, terms, literal=keyword)
    )


def _literally(cursor: CursorWrapper, scope: _Scope, text: str) -> list[str]:
    found = find_by_keyword(
        cursor,
        scope.space,
        text[:MAXIMUM_KEYWORD],
        memory_counts={},
        expansions={},
        filter=scope.filter,
        limit=scope.limit,
    )
    return [str(row.id) for row in found]


def _by_category(scope: _Scope) -> SearchResult:
    with reading(scope.space) as cursor:
        facts = scope.facts(cursor, split_words("", scope.space.language))
        rows = Memory.objects.in_space(scope.space).active().filter(category=scope.filter.category).newest_first()
        identifiers = list(rows.values_list("id", flat=True)[: scope.limit])
        ranked = [_Ranked(identifier, CONSTANT_SCORE, {}) for identifier in identifiers]
        return scope.result(cursor, ranked, facts, legs=("category",))


def _related(root: uuid.UUID, links: Sequence[Link], memories: Mapping[uuid.UUID, Memory]) -> tuple[RelatedMemory, ...]:
    return tuple(
        RelatedMemory(memories[link.node], link.relation_type, link.hops, link.outgoing, link.note)
        for link in links
        if link.root == root and link.node in memories
    )
