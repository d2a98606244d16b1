"""What stands beside a candidate: an answer is often worded in the memory before or after the one that is asked for.

Neighbours are the memories before and after it from the same source or the same document; without a source, those
saved just before and after it with the same key (a session); and memories linked to it, in either direction.
"""

# ruff: noqa: S608 - statements are put together from constants of this package; values are always parameters

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.backends.utils import CursorWrapper

from memories.search.filters import PARAMETERS, condition
from memories.search.functions import DatabaseFunction
from memories.search.fusion import Candidate
from memories.search.legs import ABOUT_COLUMNS, SCORE_PARAMETERS, SCORES, TERMS, Question, candidate_of, uuid_array

# Candidates whose neighbours are looked up. A neighbour lifts by half of its own value: what none of the best stands
# beside does not come near the ten that are asked for.
BEST = 30
SESSION_GAP = "10 minutes"
# Memories of others that may lie between two of one session.
_MOST_INTERLEAVED = 8
_MOST_LINKS = 8

_SAME_SOURCE = """
        (SELECT n.id FROM memories_memory n
         WHERE %(with_source)s AND n.space_id = %(space)s AND n.is_active AND n.source = t.source
           AND (n.created_at, n.id) {before} (t.created_at, t.id)
         ORDER BY n.created_at {order}, n.id {order} LIMIT 1)"""
# A document has few memories; the two nearest in time are those before and after, or both on one side at an end.
_SAME_DOCUMENT = """
        (SELECT n.id FROM memories_memory n
         WHERE n.space_id = %(space)s AND n.is_active AND n.document_id = t.document_id AND n.id <> t.id
         ORDER BY abs(extract(epoch FROM n.created_at - t.created_at)), n.id LIMIT 2)"""
_SAME_SESSION = """
        (SELECT s.id FROM (
            SELECT n.id, n.source, n.created_at, n.created_by_id, n.created_by_key_id FROM memories_memory n
            WHERE %(with_session)s AND n.space_id = %(space)s AND n.is_active AND t.source IS NULL
              AND (n.created_at, n.id) {before} (t.created_at, t.id)
              AND n.created_at BETWEEN t.created_at - %(gap)s::interval AND t.created_at + %(gap)s::interval
            ORDER BY n.created_at {order}, n.id {order} LIMIT %(interleaved)s) AS s
         WHERE s.source IS NULL AND s.created_by_id = t.created_by_id
           AND s.created_by_key_id IS NOT DISTINCT FROM t.created_by_key_id
         ORDER BY s.created_at {order}, s.id {order} LIMIT 1)"""
_LINKED = """
        (SELECT e.{other} FROM memories_edge e
         WHERE %(with_links)s AND e.space_id = %(space)s AND e.{this} = t.id
         ORDER BY e.created_at DESC, e.id LIMIT %(links)s)"""
_EARLIER = {"before": "<", "order": "DESC"}
_LATER = {"before": ">", "order": "ASC"}
_SOURCE = [_SAME_SOURCE.format(**_EARLIER), _SAME_SOURCE.format(**_LATER)]
_SESSION = [_SAME_SESSION.format(**_EARLIER), _SAME_SESSION.format(**_LATER)]
_LINKS = [
    _LINKED.format(this="from_memory_id", other="to_memory_id"),
    _LINKED.format(this="to_memory_id", other="from_memory_id"),
]
_KINDS = " UNION ALL ".join([_SAME_DOCUMENT, *_SOURCE, *_SESSION, *_LINKS])
_STATEMENT = f"""
WITH {TERMS}, pairs AS MATERIALIZED (
    SELECT DISTINCT t.id AS memory_id, beside.id AS neighbour_id
    FROM memories_memory t CROSS JOIN LATERAL ({_KINDS}
    ) AS beside(id)
    WHERE t.space_id = %(space)s AND t.id = ANY(%(best)s::uuid[])
), fresh AS (
    SELECT DISTINCT neighbour_id FROM pairs WHERE neighbour_id <> ALL(%(scored)s::uuid[])
), scored AS (
    SELECT m.id AS memory_id, m.id::text, {SCORES}
    FROM fresh JOIN memories_memory m ON m.id = fresh.neighbour_id AND m.space_id = %(space)s AND m.is_active
    LEFT JOIN accounts_user u ON u.id = m.created_by_id
    WHERE {condition("m")}
)
SELECT pairs.memory_id::text, pairs.neighbour_id::text, scored.*
FROM pairs LEFT JOIN scored ON scored.memory_id = pairs.neighbour_id
"""
_NEIGHBOURS = DatabaseFunction(
    name="neighbours",
    parameters=SCORE_PARAMETERS
    | PARAMETERS
    | {
        "best": "uuid[]",
        "scored": "uuid[]",
        "gap": "interval",
        "interleaved": "int",
        "links": "int",
        "with_source": "bool",
        "with_session": "bool",
        "with_links": "bool",
    },
    columns={"beside": "text", "neighbour": "text", "memory": "uuid", "id": "text", "cosine": "float8"}
    | {"words": "float8"}
    | ABOUT_COLUMNS,
    statement=_STATEMENT,
)


@dataclass(frozen=True)
class Neighbourhood:
    """`beside` tells, in both directions, who stands beside whom; `fresh` are those that no leg had found."""

    beside: dict[str, set[str]]
    fresh: list[Candidate]


def find_neighbours(
    cursor: CursorWrapper, question: Question, best: Sequence[Candidate], scored: Collection[str], *, has_links: bool
) -> Neighbourhood:
    """The active neighbours of the `best` candidates; those not in `scored` yet come with their scores. One query.

    Only the kinds of neighbours that there can be are looked for.
    """
    rows = _NEIGHBOURS.call(
        cursor,
        question.parameters
        | {
            "best": uuid_array([candidate.id for candidate in best]),
            "scored": uuid_array(scored),
            "gap": SESSION_GAP,
            "interleaved": _MOST_INTERLEAVED,
            "links": _MOST_LINKS,
            "with_source": any(candidate.has_source for candidate in best),
            "with_session": any(not candidate.has_source for candidate in best),
            "with_links": has_links,
        },
    )
    beside: dict[str, set[str]] = {}
    fresh: dict[str, Candidate] = {}
    for memory_id, neighbour_id, _, *columns in rows:
        beside.setdefault(memory_id, set()).add(neighbour_id)
        beside.setdefault(neighbour_id, set()).add(memory_id)
        if columns[0] is not None:
            fresh[neighbour_id] = candidate_of(columns)
    return Neighbourhood(beside=beside, fresh=list(fresh.values()))
