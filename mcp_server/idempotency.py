"""The parameter idempotencyKey: a write that is repeated under its key gets the first answer."""

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from accounts.services.idempotency import begin, give_up, keep
from core.errors import AppError
from core.wire import WireModel
from mcp_server.parameters import Parameter
from spaces.access import AccessContext

Answer = TypeVar("Answer", bound=WireModel)

IDEMPOTENCY_KEY = Parameter(
    "idempotencyKey",
    "string",
    "Any text of your own that names this call. Repeated with the same key, it gives its first answer again.",
)


def first_answer(
    access: AccessContext,
    operation: str,
    key: str | None,
    request: dict[str, Any],
    shape: type[Answer],
    work: Callable[[uuid.UUID | None], Answer],
) -> Answer:
    """What `work` answers, or answered when it was called under this key first. It gets the id of what it makes."""
    if key is None:
        return work(None)
    call = begin(caller=access.credential.id or access.user_id, operation=f"tool {operation}", key=key, request=request)
    if call.answer is not None:
        return shape.model_validate(call.answer)
    try:
        answer = work(call.id)
    except AppError:
        give_up(call, nothing_was_done=True)
        raise
    except BaseException:
        give_up(call, nothing_was_done=False)
        raise
    keep(call, answer.dump())
    return answer
