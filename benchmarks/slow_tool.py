"""The site with one more tool, which keeps a database connection busy for a while."""

from django.db import connection

from core.wire import WireModel
from mcp_server.registry import tool
from memory_site.asgi import application
from spaces.access import AccessContext

__all__ = ["application"]

SECONDS = 0.5


class Nothing(WireModel):
    """An answer without content."""


@tool(title="Slow", output=Nothing, read_only=True)
def slow(access: AccessContext) -> Nothing:
    """Waits in the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", [SECONDS])
    return Nothing()
