"""What every extractor does.

facts = extractor.extract(content, candidates)      # none: it read the text and found nothing to keep
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memories.models import RelationType


@dataclass(frozen=True)
class Candidate:
    """A memory that a new text may act on."""

    id: uuid.UUID
    text: str
    category: str | None


@dataclass(frozen=True)
class Relation:
    """How a fact acts on a candidate, and in one sentence why."""

    target: uuid.UUID
    type: RelationType
    note: str | None


@dataclass(frozen=True)
class Fact:
    """One statement that stands by itself, in the extractor's words."""

    text: str
    category: str | None
    relations: tuple[Relation, ...] = ()


class Extractor(Protocol):
    """A model that splits texts. Safe to use from many threads."""

    def extract(self, content: str, candidates: Sequence[Candidate]) -> list[Fact]:
        """The facts in `content`, cleaned: none blank, none twice, relations only to `candidates`.

        Raises `ProviderUnavailable` when the provider does not answer, or answers something that cannot be read.
        """
