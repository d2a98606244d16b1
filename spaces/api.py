"""Spaces and the caller's identity over REST."""

from dataclasses import replace

from django.http import HttpRequest

from core.errors import NotFound
from core.rest import RestBody, WireRouter
from spaces.access import AccessContext
from spaces.queries import space_summaries
from spaces.rest import access_of
from spaces.services.spaces import set_active_space
from spaces.wire import WireIdentity, WireSpace

router = WireRouter(tags=["Spaces"])


class ActiveSpace(RestBody):
    """The space to make active."""

    space_key: str


def _spaces(access: AccessContext) -> list[WireSpace]:
    return [WireSpace.of(summary) for summary in space_summaries(access)]


@router.get("/me", response=WireIdentity, summary="Who am I")
def me(request: HttpRequest) -> WireIdentity:
    """The person and key of this request, the active space, and the spaces it can use."""
    access = access_of(request)
    return WireIdentity.of(access, space_summaries(access))


@router.put("/me/active-space", response=list[WireSpace], summary="Set the active space")
def put_active_space(request: HttpRequest, payload: ActiveSpace) -> list[WireSpace]:
    """Make a space the active one of this key, for all later calls that name none."""
    return _spaces(set_active_space(access_of(request), payload.space_key))


@router.get("/spaces", response=list[WireSpace], summary="List spaces")
def get_spaces(request: HttpRequest) -> list[WireSpace]:
    """The spaces this key can use, with counts."""
    return _spaces(access_of(request))


@router.get("/spaces/{space_key}", response=WireSpace, summary="One space")
def get_space(request: HttpRequest, space_key: str) -> WireSpace:
    """One of the spaces this key can use."""
    access = access_of(request)
    wanted = access.space(space_key, parameter="spaceKey")
    found = _spaces(replace(access, spaces=(wanted,)))
    if not found:
        raise NotFound(f"Space “{wanted.key}” was deleted a moment ago.")
    return found[0]
