"""Who is calling: set by the transport for the length of one request, read by every handler."""

from contextvars import ContextVar

from spaces.access import AccessContext

_current: ContextVar[AccessContext | None] = ContextVar("current_access", default=None)


def set_access(access: AccessContext) -> None:
    """Bind the caller to the current request's context."""
    _current.set(access)


def current_access() -> AccessContext:
    """The caller of this request. Raises `LookupError` when no transport has identified one: nothing is served then."""
    access = _current.get()
    if access is None:
        raise LookupError("no caller has been identified")
    return access
