"""The errors services raise. Each adapter (MCP, REST, web, commands) maps them in one place.

Every message is one sentence for the person or agent that made the call: what was wrong, and what is allowed.
"""


class AppError(Exception):
    """Base of all errors a caller may see; `message` is safe to show."""

    code = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFound(AppError):
    """The thing does not exist, or the caller may not know that it does: the two look the same."""

    code = "not_found"


class AccessDenied(AppError):
    """The caller sees the thing but may not do this with it."""

    code = "access_denied"


class Invalid(AppError):
    """The input cannot be accepted as it is."""

    code = "invalid"


class Conflict(AppError):
    """The input was fine, but the stored state has moved on or forbids it."""

    code = "conflict"


class Busy(AppError):
    """The server does as much of this as it can at once; the same call works a little later."""

    code = "busy"


class ProviderUnavailable(AppError):
    """An embedding or extraction provider did not answer.

    `permanent` means that trying again will not help; without `concerns_every_call` it is about this one text.
    """

    code = "provider_unavailable"

    def __init__(self, message: str, *, permanent: bool = False, concerns_every_call: bool = True) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.concerns_every_call = concerns_every_call
