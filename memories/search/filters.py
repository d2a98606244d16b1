"""What narrows a search beside its words: a category, topics, tags. It is part of the statements that find candidates.

Filter(category="office")
Filter(topics=(topic.id, *those_below), tags=("bau", "dach"))     # in one of the topics, with one of the tags
"""

import uuid
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

PARAMETERS = {"category": "text", "topics": "uuid[]", "tags": "text[]"}

_IN_CATEGORY = "(%(category)s::text IS NULL OR {alias}.category = %(category)s)"
# Only notes have a topic, which is what the index of notes by topic is made for.
_IN_TOPICS = """(%(topics)s::uuid[] IS NULL
        OR {alias}.slug IS NOT NULL AND {alias}.topic_id = ANY(%(topics)s::uuid[]))"""
_TAGGED = """(%(tags)s::text[] IS NULL OR EXISTS (SELECT FROM memories_memorytag g
        WHERE g.space_id = %(space)s AND g.memory_id = {alias}.id AND g.name = ANY(%(tags)s::text[])))"""


class Kind(StrEnum):
    """Filters that are planned alike: none; by columns of memories; by tags, which come from an index of their own."""

    NONE = ""
    COLUMNS = "filtered"
    TAGS = "tagged"


@dataclass(frozen=True)
class Filter:
    """A memory passes when it has the category, stands in one of the topics and has one of the tags; None is any."""

    category: str | None = None
    topics: tuple[uuid.UUID, ...] | None = None
    tags: tuple[str, ...] | None = None

    @property
    def kind(self) -> Kind:
        if self.tags is not None:
            return Kind.TAGS
        return Kind.NONE if self.category is None and self.topics is None else Kind.COLUMNS

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return {
            "category": self.category,
            "topics": list(self.topics) if self.topics is not None else None,
            "tags": list(self.tags) if self.tags is not None else None,
        }


EVERYTHING = Filter()


def condition(alias: str) -> str:
    """SQL: whether the memory `alias` passes. For statements that have few memories in hand already."""
    return " AND ".join(part.format(alias=alias) for part in (_IN_CATEGORY, _IN_TOPICS, _TAGGED))


def joined(kind: Kind, alias: str) -> str:
    """SQL: a join that leaves of the rows `alias` those whose memory passes. For statements that look for memories."""
    if kind is Kind.NONE:
        return ""
    columns = " AND ".join(part.format(alias="c") for part in (_IN_CATEGORY, _IN_TOPICS))
    memories = f"""JOIN memories_memory c ON c.id = {alias}.memory_id AND c.space_id = %(space)s AND c.is_active
        AND {columns}"""
    if kind is Kind.COLUMNS:
        return memories
    return f"""JOIN (SELECT DISTINCT g.memory_id FROM memories_memorytag g
        WHERE g.space_id = %(space)s AND g.name = ANY(%(tags)s::text[])) AS tagged
        ON tagged.memory_id = {alias}.memory_id {memories}"""  # noqa: S608 - put together of constants
