"""Who calls the REST API: the caller of a request, identified by its API key."""

from django.http import HttpRequest
from ninja.security.base import AuthBase

from accounts.keys import presented_key
from spaces.access import AccessContext, access_for_key


class KeyAuthentication(AuthBase):
    """`X-Api-Key`, or `Authorization: Bearer`; no cookies, so no other site can call in a person's name."""

    openapi_type = "apiKey"
    openapi_in = "header"
    openapi_name = "X-Api-Key"

    def __call__(self, request: HttpRequest) -> AccessContext | None:
        key = presented_key(request.headers.get("X-Api-Key"), request.headers.get("Authorization"))
        return access_for_key(key, surface="rest") if key else None


def access_of(request: HttpRequest) -> AccessContext:
    """The caller of an authenticated request."""
    access = getattr(request, "auth", None)
    if not isinstance(access, AccessContext):
        raise LookupError("no caller has been identified")
    return access
