"""`manage.py mcp_stdio`: the same MCP server over standard input and output, for clients that start a program."""

import os
import sys
from typing import Any

import anyio
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from mcp_server import threads
from mcp_server.identity import set_access
from mcp_server.registry import Toolset
from mcp_server.server import server
from mcp_server.toolsets import choose_toolsets, chosen_toolsets
from spaces.access import access_for_key

VARIABLES = ("MEMORY_API_KEY", "MEMORYMCP_API_KEY")
# Nobody needs to be identified for these; a client must be able to say hello before it is told what is wrong.
_OPEN = ("initialize", "notifications/initialized", "ping", "server/discover")


class Command(BaseCommand):
    help = "Serve MCP over standard input and output, with the API key in MEMORY_API_KEY."
    # Checks and migrations would write to standard output, which belongs to the protocol.
    requires_system_checks = []  # noqa: RUF012 - Django declares it so

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--toolsets", help=f"tools to serve, with commas between: {', '.join(Toolset)} (default all)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        key = next((os.environ[name].strip() for name in VARIABLES if os.environ.get(name, "").strip()), None)
        if key is None:
            raise CommandError(f"Set {VARIABLES[0]} to an API key; this server speaks for the person it belongs to.")
        try:
            access = access_for_key(key)
        except OperationalError as error:
            raise CommandError(f"The database in DATABASE_URL does not answer: {error}") from error
        if access is None:
            raise CommandError(f"The key in {VARIABLES[0]} is unknown, expired or revoked.")
        choose_toolsets(options["toolsets"])
        try:
            chosen_toolsets()
        except MCPError as error:
            raise CommandError(str(error)) from error
        anyio.run(_serve, key)


async def _serve(key: str) -> None:
    async def identify(ctx: Any, call_next: Any) -> Any:
        # Asked anew for every message: a revoked key ends here, and a changed grant counts at once.
        access = await threads.authenticate(access_for_key, key)
        if access is not None:
            set_access(access)
        elif ctx.method not in _OPEN:
            raise MCPError(INVALID_REQUEST, "The API key of this connection was revoked or has expired.")
        return await call_next(ctx)

    server.middleware.append(identify)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
    sys.stdout.flush()
