"""Taking back what was changed in a space, over REST: shown first, done when asked for."""

from typing import Any, Self
from uuid import UUID

from django.http import HttpRequest
from pydantic import Field

from core.rest import RestBody, WireRouter
from core.text import clean_moment
from core.wire import WireModel, fit_texts
from memories.services.undo import UndoPlan, plan_undo, undo
from spaces.rest import access_of

router = WireRouter(tags=["History"])


class Undoing(RestBody):
    """Which commits are meant: all that is given must hold. Only with `apply` something happens."""

    commits: list[str] = Field(default_factory=list)
    person: str | None = None
    key_label: str | None = None
    since: str | None = None
    until: str | None = None
    reason: str | None = None
    apply: bool = False


class WireUndoneMemory(WireModel):
    """A memory that goes back; `text` is the diff from what it says now to what it said then."""

    id: UUID
    path: str
    text: str
    text_truncated: bool | None = None
    is_removed: bool
    is_brought_back: bool


class WireUndoConflict(WireModel):
    """A memory that stays as it is, and why."""

    id: UUID
    path: str
    reason: str


class WireUndo(WireModel):
    """What would happen, or has happened in `commit`."""

    commits: list[str]
    memories: list[WireUndoneMemory]
    conflicts: list[WireUndoConflict]
    applied: bool
    commit: str | None = None

    @classmethod
    def of(cls, plan: UndoPlan, *, applied: bool) -> Self:
        memories = [
            WireUndoneMemory(
                id=memory.id,
                path=memory.path,
                text=memory.diff.text,
                is_removed=memory.is_removed,
                is_brought_back=memory.is_brought_back,
            )
            for memory in plan.memories
        ]
        fit_texts(memories)
        return cls(
            commits=list(plan.commits),
            memories=memories,
            conflicts=[
                WireUndoConflict(id=conflict.id, path=conflict.path, reason=conflict.reason)
                for conflict in plan.conflicts
            ],
            applied=applied,
            commit=plan.commit,
        )


@router.post("/spaces/{space_key}/undo", response=WireUndo, summary="Take back what was changed")
def post_undo(request: HttpRequest, space_key: str, body: Undoing) -> WireUndo:
    """What commits, a person, a key or a stretch of time have changed goes back, in one new commit. What others have
    changed since stays, and is named."""
    access = access_of(request)
    chosen: dict[str, Any] = body.dict(exclude={"apply", "reason"})
    chosen["since"] = clean_moment(body.since, "since")
    chosen["until"] = clean_moment(body.until, "until")
    if body.apply:
        return WireUndo.of(undo(access, project=space_key, reason=body.reason, **chosen), applied=True)
    return WireUndo.of(plan_undo(access, project=space_key, **chosen), applied=False)
