"""The form in which results leave the server, over MCP and REST alike: camelCase, nulls dropped, times with offset.

Each app keeps its own shapes in `wire.py`; a shape is built from a service's result by its `of` method.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """Base of all shapes on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)

    def dump(self) -> dict[str, Any]:
        """As JSON-ready data under its wire names; a null field is left out, an empty list is kept."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


# ISO 8601 in UTC with an explicit offset, as in 2026-03-01T12:00:00.123456+00:00.
Moment = Annotated[datetime, PlainSerializer(_iso, return_type=str, when_used="json")]
