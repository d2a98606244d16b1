"""What a caller may ask about spaces: which there are, which is active, and switching it."""

import uuid
from dataclasses import replace

from django.db import transaction
from django.db.models import QuerySet

from core.errors import NotFound
from spaces.access import AccessContext
from spaces.models import SpaceGrant


def set_active_space(access: AccessContext, space_key: str) -> AccessContext:
    """Make a granted space the key's default for every later request; returns the changed snapshot.

    Raises `NotFound` for a space this key cannot use.
    """
    target = access.space(space_key, parameter="spaceKey")
    if access.credential.id is None:
        raise NotFound("Only an API key has an active space; name the space in each call instead.")
    with transaction.atomic():
        # One lock order for every writer of a key's grants: by id.
        grants = list(_grants(access.credential.id).select_for_update().order_by("id"))
        if all(grant.space_id != target.id for grant in grants):
            raise NotFound(f"Space “{target.key}” was not found or is not accessible to this key.")
        _grants(access.credential.id).filter(is_default=True).exclude(space_id=target.id).update(is_default=False)
        _grants(access.credential.id).filter(space_id=target.id).update(is_default=True)
    return replace(access, spaces=tuple(replace(space, is_default=space.id == target.id) for space in access.spaces))


def _grants(key_id: uuid.UUID) -> QuerySet[SpaceGrant]:
    return SpaceGrant.objects.filter(api_key_id=key_id)
