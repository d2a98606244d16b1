"""Onboarding: spaces, members, keys and grants. Used by the commands, the admin and the demo."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.keys import PREFIX_LENGTH, generate_key, hash_key
from accounts.models import MAXIMUM_LABEL, ApiKey, User
from core.errors import Conflict, Invalid, NotFound
from core.text import clean_line, clean_text
from spaces.access import member_levels, role_ceiling
from spaces.languages import installed_languages
from spaces.models import (
    KEY_RULE,
    MAXIMUM_KEY,
    MAXIMUM_NAME,
    AccessLevel,
    Language,
    Space,
    SpaceGrant,
    validate_space_key,
)
from spaces.services.members import set_member_permission

MAXIMUM_DESCRIPTION = 2000
# A time near the year 10000 is stored by PostgreSQL, but cannot be read back by Python.
FURTHEST_EXPIRY = timedelta(days=36_500)
_PERMISSION_OF_LEVEL = {AccessLevel.READ: "read_space", AccessLevel.READ_WRITE: "write_space"}


@dataclass(frozen=True)
class RequestedGrant:
    """A space a new key shall reach, and how far."""

    space: Space
    level: AccessLevel = AccessLevel.READ_WRITE
    is_default: bool = False


@dataclass(frozen=True)
class GrantResult:
    """A grant as it came out. `effective` is what role and membership leave of it; `became_member` says that the
    key's owner was no member of the space at that level before, and now is."""

    grant: SpaceGrant
    effective: AccessLevel
    became_member: bool
    existed: bool = False

    @property
    def granted(self) -> AccessLevel:
        """The level of the grant itself."""
        return AccessLevel(self.grant.access_level)


@dataclass(frozen=True)
class NewKey:
    """A fresh key: `secret` exists only here, it is not stored."""

    key: ApiKey
    secret: str
    grants: Sequence[GrantResult]


def parse_level(level: object) -> AccessLevel:
    """An access level by its wire name, in any case. Raises `Invalid` otherwise."""
    for known in AccessLevel:
        if isinstance(level, str) and level.strip().lower() == known.wire.lower():
            return known
    raise Invalid("The access level must be Read or ReadWrite.")


def split_level(text: str) -> tuple[str, AccessLevel]:
    """`NAME` or `NAME:LEVEL`, split at the last colon; without a level ReadWrite is meant. Raises `Invalid`."""
    name, colon, level = text.rpartition(":")
    return (name, parse_level(level)) if colon else (text, AccessLevel.READ_WRITE)


def create_space(
    *, key: str, name: str | None = None, description: str | None = None, language: str = Language.ENGLISH
) -> Space:
    """A new, empty space. Raises `Invalid` for a bad key or language, `Conflict` when the key is taken."""
    key = clean_line(key, "key", maximum=MAXIMUM_KEY)
    try:
        validate_space_key(key)
    except ValidationError:
        raise Invalid(f"A space key consists of {KEY_RULE}.") from None
    if language not in Language.values and language not in dict(installed_languages()):
        raise Invalid(f"language must be one of {', '.join(dict(installed_languages()))}.")
    space = Space(
        key=key,
        name=clean_line(name, "name", maximum=MAXIMUM_NAME, required=False) or key,
        description=clean_text(description, "description", maximum=MAXIMUM_DESCRIPTION, required=False),
        language=language,
    )
    try:
        with transaction.atomic():
            space.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"A space with the key “{key}” exists already.") from None
    return space


def find_space(key: str) -> Space | None:
    """The space with this key, if there is one. For administrators: it asks nobody's access."""
    return Space.objects.filter(key=clean_line(key, "space", maximum=MAXIMUM_KEY)).first()


def get_space(key: str) -> Space:
    """The space with this key. Raises `NotFound` that lists some existing ones: for administrators only."""
    space = find_space(key)
    if space is None:
        existing = list(Space.objects.order_by("key").values_list("key", flat=True)[:20])
        known = f"existing spaces: {', '.join(existing)}" if existing else "there are no spaces yet"
        raise NotFound(f"There is no space with the key “{key}”; {known}.")
    return space


def add_member(user: User, space: Space, level: AccessLevel) -> bool:
    """Make `user` a member of `space` with at least `level`; returns False when they had it already."""
    held = member_levels(user).get(space.id)
    if held is not None and held >= level:
        return False
    set_member_permission(space, user, _PERMISSION_OF_LEVEL[level])
    return True


@transaction.atomic
def create_api_key(
    user: User,
    *,
    grants: Sequence[RequestedGrant] = (),
    default: Space | None = None,
    label: str | None = None,
    expires_at: datetime | None = None,
) -> NewKey:
    """A key of `user` that reaches the granted spaces; `default` (else the first granted) is its active space.

    Raises `Invalid` when a space is named twice, when `default` is not granted, or when the expiry has passed or is a
    century away.
    """
    if expires_at is not None and not timezone.now() < expires_at < timezone.now() + FURTHEST_EXPIRY:
        raise Invalid("The expiry date must lie in the future, within a hundred years.")
    spaces = [requested.space.id for requested in grants]
    if len(set(spaces)) != len(spaces):
        raise Invalid("A space may be granted only once.")
    if default is not None and default.id not in spaces:
        raise Invalid(f"The default space “{default.key}” must be one of the granted spaces.")
    secret = generate_key()
    key = ApiKey.objects.create(
        user=user,
        key_hash=hash_key(secret),
        key_prefix=secret[:PREFIX_LENGTH],
        label=clean_line(label, "label", maximum=MAXIMUM_LABEL, required=False),
        expires_at=expires_at,
    )
    default_id = default.id if default is not None else next(iter(spaces), None)
    results = [
        grant_space(key, requested.space, requested.level, make_default=requested.space.id == default_id)
        for requested in grants
    ]
    return NewKey(key=key, secret=secret, grants=results)


@transaction.atomic
def grant_space(key: ApiKey, space: Space, level: AccessLevel, *, make_default: bool = False) -> GrantResult:
    """Let `key` use `space`, and make the key's owner a member at that level where they were none.

    A key that has the space keeps its level. The grant becomes the default when asked for, or when the key has none;
    a default is only ever moved, never lost.
    """
    grants = list(SpaceGrant.objects.select_for_update().filter(api_key=key).order_by("id"))
    existing = next((grant for grant in grants if grant.space_id == space.id), None)
    becomes_default = make_default or all(not grant.is_default for grant in grants)
    if becomes_default:
        SpaceGrant.objects.filter(api_key=key, is_default=True).exclude(space=space).update(is_default=False)
    if existing is None:
        grant = SpaceGrant.objects.create(api_key=key, space=space, access_level=level, is_default=becomes_default)
    else:
        grant = existing
        if becomes_default and not grant.is_default:
            grant.is_default = True
            grant.save(update_fields=["is_default"])
    granted = AccessLevel(grant.access_level)
    became_member = add_member(key.user, space, granted)
    effective = min(granted, role_ceiling(key.user), member_levels(key.user)[space.id])
    return GrantResult(grant=grant, effective=effective, became_member=became_member, existed=existing is not None)


@transaction.atomic
def save_grants(key: ApiKey, requested: Sequence[RequestedGrant]) -> Sequence[GrantResult]:
    """Make `requested` the grants of a key: others are withdrawn, levels and the default are set as asked for.

    Without a default among them the first becomes it. Raises `Invalid` when a space or the default is named twice.
    """
    wanted = {grant.space.id: grant for grant in requested}
    if len(wanted) != len(requested) or sum(grant.is_default for grant in requested) > 1:
        raise Invalid("A space may be granted only once, and only one can be the active space.")
    default = next((grant.space.id for grant in requested if grant.is_default), next(iter(wanted), None))
    existing = SpaceGrant.objects.select_for_update().filter(api_key=key).order_by("id")
    for grant in list(existing):
        if grant.space_id not in wanted:
            grant.delete()
        elif grant.access_level != wanted[grant.space_id].level:
            grant.access_level = wanted[grant.space_id].level
            grant.save(update_fields=["access_level"])
    return [grant_space(key, grant.space, grant.level, make_default=grant.space.id == default) for grant in requested]
