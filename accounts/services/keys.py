"""Finding and revoking API keys."""

import uuid

from django.db.models import Q
from django.utils import timezone

from accounts.keys import PREFIX_LENGTH, hash_key
from accounts.models import ApiKey
from core.errors import Conflict, NotFound
from core.text import clean_line

_MOST_LISTED = 10


def find_key(reference: str) -> ApiKey:
    """The one key named by its id, its printed prefix, or the whole key.

    Raises `NotFound` when there is none, and `Conflict` listing the candidates when there are several.
    """
    # Lists show a prefix with an ellipsis, which is easily copied along.
    reference = clean_line(reference, "key", maximum=200).rstrip("….")
    if not reference:
        raise NotFound("Name a key by its id, its printed prefix, or the whole key.")
    try:
        matches = Q(id=uuid.UUID(reference))
    except ValueError:
        matches = Q(key_prefix__startswith=reference[:PREFIX_LENGTH])
        if len(reference) > PREFIX_LENGTH:
            matches = Q(key_hash=hash_key(reference))
    found = list(ApiKey.objects.select_related("user").filter(matches).order_by("created_at", "id")[: _MOST_LISTED + 1])
    if not found:
        raise NotFound(f"No key has the id or prefix “{reference[:PREFIX_LENGTH]}”.")
    if len(found) > 1:
        listed = "; ".join(
            f"{key.id} ({key.key_prefix}… {key.label} of {key.user.email})" for key in found[:_MOST_LISTED]
        )
        raise Conflict(f"Several keys begin with “{reference}”; name one by its id: {listed}.")
    return found[0]


def revoke_key(key: ApiKey) -> bool:
    """Revoke for good, from the next request on; returns False when it was revoked before."""
    revoked = ApiKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=timezone.now())
    key.refresh_from_db(fields=["revoked_at"])
    return bool(revoked)
