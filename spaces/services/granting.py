"""Granting a space to keys that exist already, named by person, id or prefix."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.models import ApiKey
from accounts.services.keys import find_key
from accounts.services.users import get_user
from core.errors import Conflict, Invalid, NotFound
from spaces.models import AccessLevel, Space
from spaces.services.provisioning import GrantResult, grant_space


@dataclass(frozen=True)
class RequestedTarget:
    """Whom to grant a space: an e-mail address means all keys of that person."""

    reference: str
    level: AccessLevel = AccessLevel.READ_WRITE


def find_targets(requested: Sequence[RequestedTarget]) -> list[tuple[ApiKey, AccessLevel]]:
    """The keys meant, each once, in the order they were named.

    Raises `NotFound` and `Conflict` for what cannot be told, and `Invalid` for a target that is named twice.
    """
    named = [target.reference.strip().lower() for target in requested]
    for reference in named:
        if named.count(reference) > 1:
            raise Invalid(f"“{reference}” is named twice; name each target once.")
    levels: dict[ApiKey, AccessLevel] = {}
    for target in requested:
        for key in _keys(target.reference):
            if levels.setdefault(key, target.level) != target.level:
                raise Conflict(f"Key {key.key_prefix}… is asked for with two levels; name it with one.")
    return list(levels.items())


def _keys(reference: str) -> list[ApiKey]:
    if "@" not in reference:
        return [find_key(reference)]
    user = get_user(reference)
    keys = list(ApiKey.objects.select_related("user").filter(user=user).order_by("created_at", "id"))
    if not keys:
        raise NotFound(f"{user.email} has no keys; create one with create_api_key.")
    return keys


@transaction.atomic
def grant_targets(
    targets: Sequence[tuple[ApiKey, AccessLevel]], space: Space, *, make_default: bool = False
) -> list[GrantResult]:
    """Let each key use the space; see `grant_space`."""
    return [grant_space(key, space, level, make_default=make_default) for key, level in targets]
