"""Spaces and the caller's identity on the wire."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from accounts.models import Role
from core.wire import WireModel
from spaces.access import AccessContext
from spaces.queries import SpaceSummary

Level = Literal["Read", "ReadWrite"]


class WireSpace(WireModel):
    """A space the caller can use."""

    id: UUID
    key: str
    name: str
    access_level: Level
    is_default: bool
    document_count: int
    memory_count: int

    @classmethod
    def of(cls, summary: SpaceSummary) -> "WireSpace":
        return cls(
            id=summary.space.id,
            key=summary.space.key,
            name=summary.space.name,
            access_level=summary.space.level.wire,
            is_default=summary.space.is_default,
            document_count=summary.document_count,
            memory_count=summary.memory_count,
        )


class WireIdentity(WireModel):
    """Who the caller is, with which key, and what it reaches."""

    api_key_id: UUID | None = None
    label: str | None = None
    user_id: UUID
    user_email: str
    user_display_name: str
    user_role: Role
    active_space_key: str | None = None
    spaces: list[WireSpace]

    @classmethod
    def of(cls, access: AccessContext, summaries: Sequence[SpaceSummary]) -> "WireIdentity":
        default = access.default_space
        return cls(
            api_key_id=access.credential.id,
            label=access.credential.label or None,
            user_id=access.user_id,
            user_email=access.email,
            user_display_name=access.display_name,
            user_role=access.role,
            active_space_key=default.key if default else None,
            spaces=[WireSpace.of(summary) for summary in summaries],
        )
