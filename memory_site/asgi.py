"""The whole site as one ASGI application: `/mcp` goes to the MCP endpoint, `/git/` to git, the rest to Django."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

# Models can be imported only now that Django is set up.
from core.asgi import Receive, Scope, Send  # noqa: E402
from history.http.endpoint import GitEndpoint  # noqa: E402
from history.http.requests import PREFIX as GIT_PREFIX  # noqa: E402
from mcp_server.endpoint import Endpoint  # noqa: E402
from memory_site.admission import admitted  # noqa: E402
from memory_site.health import livez  # noqa: E402

# Both are served alike: a redirect between them would turn a POST into a GET in some clients.
MCP_PATHS = ("/mcp", "/mcp/")

mcp_endpoint = Endpoint()
git_endpoint = GitEndpoint()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Dispatch one connection. The lifespan is ours, since Django has none."""
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
        return
    if scope["type"] == "http":
        # uvicorn with httptools leaves trailing blanks in header values, which would spoil keys.
        # A name with an underscore would pass for the one with a hyphen once Django has read it.
        scope["headers"] = [(name, value.strip()) for name, value in scope["headers"] if b"_" not in name]
        if scope["path"] in MCP_PATHS:
            await mcp_endpoint(scope, receive, send)
            return
        if scope["path"].startswith(GIT_PREFIX):
            await git_endpoint(scope, receive, send)
            return
        if scope["path"] == "/livez":
            await livez(scope, send)
            return
        await admitted(django_application, scope, receive, send)
        return
    await django_application(scope, receive, send)  # type: ignore[arg-type]


async def _lifespan(receive: Receive, send: Send) -> None:
    await receive()
    async with mcp_endpoint.running(), git_endpoint.running():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})
