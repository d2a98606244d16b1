"""Errors of the REST API as RFC 9457 problem details: the one place where errors become HTTP answers."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from core.errors import AccessDenied, AppError, Busy, Conflict, Invalid, NotFound, ProviderUnavailable
from core.outages import outage
from core.text import excerpt
from memories.note_wire import WireReadEntry
from memories.notes import NoteConflict

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
# Sentences in one answer; whoever sends more wrong fields than this learns the rest after correcting these.
_MOST_ERRORS = 20
_LONGEST_NAME = 60
_BUSY_SECONDS = 5
_TITLES = {
    400: "Malformed request",
    401: "Not authenticated",
    403: "Access denied",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Invalid input",
    429: "Too many requests",
    500: "Server error",
    503: "Service unavailable",
}
_STATUS_OF_ERROR: tuple[tuple[type[AppError], int], ...] = (
    (NotFound, 404),
    (AccessDenied, 403),
    (Conflict, 409),
    (Invalid, 422),
    (ProviderUnavailable, 503),
    (Busy, 503),
)


def problem(
    request: HttpRequest,
    status: int,
    detail: str,
    *,
    errors: Sequence[str] = (),
    headers: dict[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """An answer that says what was wrong; `errors` are further sentences, one a field, `more` are members beside."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "detail": detail.encode("utf-8", "replace").decode("utf-8"),
        "instance": request.path,
    }
    if errors:
        body["errors"] = [text.encode("utf-8", "replace").decode("utf-8") for text in errors]
    body |= more or {}
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers)


def application_problem(request: HttpRequest, error: AppError) -> HttpResponse:
    status = next((status for kind, status in _STATUS_OF_ERROR if isinstance(error, kind)), 400)
    return problem(request, status, error.message, more=_both_texts(error) if isinstance(error, NoteConflict) else None)


def _both_texts(conflict: NoteConflict) -> dict[str, Any]:
    """What the note says now, and what was not stored, so that nothing has to be typed again."""
    rejected = {"title": conflict.rejected_title, "bodyMarkdown": conflict.rejected_text}
    return {
        "current": WireReadEntry.of(conflict.current).rest_dump(),
        "rejected": {name: value for name, value in rejected.items() if value is not None},
    }


def unexpected_problem(request: HttpRequest, error: Exception) -> HttpResponse:
    """An error nobody foresaw: logged with a number that the answer repeats, without any detail."""
    identifier = uuid.uuid4().hex[:12]
    logger.error("%s %s failed, error %s", request.method, request.path, identifier, exc_info=error)
    return problem(
        request, 500, f"Something went wrong on the server (error {identifier}); tell an administrator this number."
    )


def too_large_problem(request: HttpRequest) -> HttpResponse:
    megabytes = settings.MAXIMUM_BODY_BYTES // (1024 * 1024)
    return problem(request, 413, f"The body is too large: at most {megabytes} MB are allowed.")


def busy_problem(request: HttpRequest, error: Exception) -> HttpResponse:
    """The database is gone, out of connections or too slow: worth another try, unlike an error of ours."""
    said = outage(error)
    logger.error("%s %s: %s", request.method, request.path, said, exc_info=error)
    return problem(
        request,
        503,
        f"{said}; try again in {_BUSY_SECONDS} seconds.",
        headers={"Retry-After": str(_BUSY_SECONDS)},
    )


def field_errors(errors: Sequence[dict[str, Any]]) -> list[str]:
    """What pydantic found wrong with the input, one sentence a field, in our words; the first twenty."""
    sentences = []
    for error in errors[:_MOST_ERRORS]:
        path = [str(part) for part in error.get("loc", ()) if part not in ("body", "query", "path", "data", "payload")]
        name = excerpt(".".join(path), _LONGEST_NAME) or "The body"
        sentences.append(_sentence(name, str(error.get("type", "")), error.get("ctx") or {}))
    return list(dict.fromkeys(sentences))


def _sentence(name: str, kind: str, context: dict[str, Any]) -> str:
    if kind == "missing":
        return f"{name} is required."
    if kind == "extra_forbidden":
        return f"{name} is not known here."
    if kind == "string_unicode":
        return f"{name} contains half of a surrogate pair, which is not valid text; send complete characters."
    if kind == "string_too_long":
        return f"{name} is too long: at most {context.get('max_length'):,} characters are allowed."
    if kind.startswith("string"):
        return f"{name} must be text."
    if kind.startswith("int") or kind == "finite_number":
        return f"{name} must be a whole number."
    if kind.startswith("bool"):
        return f"{name} must be true or false."
    if kind.startswith("uuid"):
        return f"{name} must be an id such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427."
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = context.get("ge", context.get("le"))
        return f"{name} must be at {'least' if 'ge' in context else 'most'} {bound}."
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"{name} must be a JSON object."
    return f"{name} is not valid."
