"""The REST API: `/api/v1/`, described at `/api/v1/docs`. Each app brings its own routes in its `api.py`."""

import functools
from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.docs import Swagger
from ninja.parser import Parser

from core.errors import AppError, Invalid
from core.rest import RestQuery
from core.text import excerpt
from documents.api import router as documents
from memories.api import router as memories
from memories.graph_api import router as graph
from memories.jobs_api import router as jobs
from memories.links_api import router as links
from memories.notes_api import router as notes
from memories.undo_api import router as undoing
from memory_site.idempotency import repeatable
from memory_site.openapi import DescribedApi
from memory_site.problems import (
    application_problem,
    busy_problem,
    field_errors,
    problem,
    too_large_problem,
    unexpected_problem,
)
from spaces.api import router as spaces
from spaces.rest import KeyAuthentication


class JsonParser(Parser):
    """Bodies are JSON and nothing else."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != "application/json":
            raise HttpError(415, "The body must be sent as Content-Type: application/json.")
        try:
            return super().parse_body(request)
        except (ValueError, RecursionError):
            raise HttpError(400, "The body is not valid JSON.") from None


api = DescribedApi(
    title="Memory",
    version="1",
    description="One shared memory for AI agents and the people who work with them. Authenticate with an API key.",
    auth=KeyAuthentication(),
    parser=JsonParser(),
    # Swagger UI would have swagger.io check the description, which is nobody's business outside of this server.
    docs=Swagger(settings={"validatorUrl": None}),
    urls_namespace="api",
)


def _known_parameters_only(view: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse query parameters that the view does not take: a misspelt filter must not widen an answer."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> Any:
        known = {
            field.alias or name
            for value in named.values()
            if isinstance(value, RestQuery)
            for name, field in type(value).model_fields.items()
        }
        unknown = sorted(set(request.GET) - known)
        if unknown:
            allowed = f"allowed are {', '.join(sorted(known))}" if known else "none is allowed here"
            raise Invalid(f"Unknown parameter: {', '.join(excerpt(name, 60) for name in unknown[:5])}; {allowed}.")
        for name in request.GET:
            if "\x00" in request.GET[name]:
                raise Invalid(f"{name} must not contain the character NUL.")
        return view(request, *args, **named)

    return wrapped


for router in (spaces, memories, graph, notes, links, documents, jobs, undoing):
    router.add_decorator(repeatable, mode="operation")
    router.add_decorator(_known_parameters_only, mode="operation")
    api.add_router("", router)


@api.exception_handler(AppError)
def _on_application_error(request: HttpRequest, error: AppError) -> HttpResponse:
    return application_problem(request, error)


@api.exception_handler(ValidationError)
def _on_validation_error(request: HttpRequest, error: ValidationError) -> HttpResponse:
    sentences = field_errors(error.errors)
    detail = sentences[0] if len(sentences) == 1 else "Some fields are not valid."
    return problem(request, 422, detail, errors=sentences)


@api.exception_handler(AuthenticationError)
def _on_authentication_error(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return problem(
        request,
        401,
        "Send a valid API key in X-Api-Key or Authorization: Bearer.",
        headers={"WWW-Authenticate": 'Bearer realm="memory"'},
    )


@api.exception_handler(HttpError)
def _on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    # ninja wraps what a parser raises into its own words; ours is the cause.
    cause = error.__cause__ or error.__context__
    if isinstance(cause, HttpError):
        error = cause
    return problem(request, error.status_code, str(error))


@api.exception_handler(RequestDataTooBig)
def _on_large_body(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    # A body sent in chunks announces no length, so that only reading it shows its size.
    return too_large_problem(request)


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def _on_busy_database(request: HttpRequest, error: Exception) -> HttpResponse:
    return busy_problem(request, error)


@api.exception_handler(Http404)
def _on_missing_page(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(request, 404, "There is nothing at this address.")


@api.exception_handler(Exception)
def _on_unexpected_error(request: HttpRequest, error: Exception) -> HttpResponse:
    return unexpected_problem(request, error)
