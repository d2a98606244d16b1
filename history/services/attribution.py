"""Whom a commit names: the person as its author, the credential and the surface in its trailers."""

from collections.abc import Mapping

from history.services.commits import KEY_TRAILER, SURFACE_TRAILER, Author
from spaces.access import AccessContext


def author_of(access: AccessContext) -> Author:
    return Author(access.display_name, access.email)


def trailers_of(access: AccessContext) -> Mapping[str, str]:
    """`Key`, when the caller used one that has a label, and `Surface`."""
    credential = access.credential
    key = {KEY_TRAILER: credential.label} if credential.label else {}
    return {**key, SURFACE_TRAILER: credential.surface}
