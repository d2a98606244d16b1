"""Bases of the REST API: camelCase names on both sides, and no input that is not known.

class NewMemory(RestBody): content: str
class MemoryFilters(RestQuery): category: str | None = None
"""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel


class WireRouter(Router):
    """Routes whose answers are wire models: camelCase names, nulls dropped."""

    def api_operation(self, *args: Any, **named: Any) -> Callable[..., Any]:
        """As `Router.api_operation`, through which every route is registered."""
        return super().api_operation(*args, **{**named, "by_alias": True, "exclude_none": True})


class RestBody(Schema):
    """A JSON body. Unknown fields are errors, and so is `"5"` or `true` where a number is meant."""

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)


class RestQuery(Schema):
    """Parameters after the question mark; `memory_site.api` refuses those that no such schema names."""

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel)


def call_id(request: HttpRequest) -> UUID | None:
    """The id of what a request makes, when it carries an Idempotency-Key."""
    identifier: UUID | None = getattr(request, "call_id", None)
    return identifier


# A cursor as lists return it takes some hundred characters.
Cursor = Annotated[str, Field(max_length=300)]
