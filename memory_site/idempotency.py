"""The header Idempotency-Key of the REST API: a write that is repeated under its key gets the first answer."""

import functools
import json
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Status

from accounts.services.idempotency import Call, begin, give_up, keep
from core.errors import AppError, Invalid
from core.wire import WireModel
from spaces.access import AccessContext
from spaces.rest import access_of

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
_WRITES = ("POST", "PUT", "PATCH", "DELETE")


def caller_of(access: AccessContext) -> Any:
    """Whose keys these are: two credentials never meet each other's."""
    return access.credential.id or access.user_id


def repeatable(view: Callable[..., Any]) -> Callable[..., Any]:
    """Let a write be repeated: its first answer is kept under the key that came with it."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> Any:
        key = request.headers.get(HEADER)
        if key is None or request.method not in _WRITES:
            return view(request, *args, **named)
        if not key.strip():
            raise Invalid(f"{HEADER} must not be empty.")
        asked = f"{request.method} {request.get_full_path()}\n".encode() + request.body
        operation = f"{request.method} {request.path}"[:100]
        call = begin(caller=caller_of(access_of(request)), operation=operation, key=key, request=asked)
        if call.answer is not None:
            return _again(call.answer)
        request.call_id = call.id  # type: ignore[attr-defined]
        return _first(call, view, request, args, named)

    return wrapped


def _first(call: Call, view: Callable[..., Any], request: HttpRequest, args: Any, named: dict[str, Any]) -> Any:
    try:
        result = view(request, *args, **named)
    except AppError:
        give_up(call, nothing_was_done=True)
        raise
    except BaseException:
        give_up(call, nothing_was_done=False)
        raise
    status, value = (result.status_code, result.value) if isinstance(result, Status) else (200, result)
    if value is None or isinstance(value, WireModel):
        response = named.get("response")
        keep(
            call,
            {
                "status": status,
                "body": None if value is None else value.rest_dump(),
                "location": response.get("Location") if isinstance(response, HttpResponse) else None,
            },
        )
    else:
        give_up(call, nothing_was_done=False)
    return result


def _again(answer: dict[str, Any]) -> HttpResponse:
    body = "" if answer["body"] is None else json.dumps(answer["body"], ensure_ascii=False)
    response = HttpResponse(body, status=answer["status"], content_type="application/json; charset=utf-8")
    response[REPLAYED] = "true"
    if answer["location"]:
        response["Location"] = answer["location"]
    return response
