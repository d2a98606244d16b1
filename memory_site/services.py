"""What a new installation starts with: two spaces, a Writer and a Reader, an administrator, and a few memories."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.models import ApiKey, Role, User
from accounts.services.keys import revoke_key
from accounts.services.users import create_user
from core.errors import Conflict
from memories.services.save import save_memory
from spaces.access import access_for_key
from spaces.models import Space
from spaces.services.provisioning import NewKey, RequestedGrant, create_api_key, create_space, find_space

WRITER = "writer@memory-mcp.local"
READER = "reader@memory-mcp.local"
ADMINISTRATOR = "admin@memory-mcp.local"
LABEL = "seed"

_SAMPLES = (
    ("The team meets every Monday at ten in the large room.", "meetings"),
    ("Grace Hopper signs off every release before it goes out.", "releases"),
    ("Backups run at two in the night and are kept for thirty days.", "operations"),
    ("Answers to customers are written in plain words and without jargon.", "style"),
)


@dataclass(frozen=True)
class SeededKey:
    """A seeded person with their key; `secret` is None when the key was there before and cannot be shown again."""

    user: User
    key: ApiKey
    secret: str | None


@dataclass(frozen=True)
class Demo:
    """What the first start made; `password` and the secrets exist only here."""

    administrator: User
    password: str
    keys: Sequence[SeededKey]


@transaction.atomic
def seed(*, new_keys: bool = False) -> list[SeededKey]:
    """Two spaces, a Writer on both, and a Reader whose ReadWrite grant on `team` is capped by the role.

    What exists is left as it is; `new_keys` revokes the seeded keys and issues fresh ones.
    """
    default, team = _space("default", "Default"), _space("team", "Team")
    people = (
        (WRITER, "Writer", Role.WRITER, [RequestedGrant(default), RequestedGrant(team)]),
        (READER, "Reader", Role.READER, [RequestedGrant(team)]),
    )
    seeded = []
    for email, name, role, grants in people:
        user = User.objects.filter(email=email).first() or create_user(email=email, display_name=name, role=role)
        seeded.append(_key(user, grants, renew=new_keys))
    return seeded


@transaction.atomic
def demo() -> Demo | None:
    """The seed, an administrator and sample memories, in an installation that has no people yet; else None.

    All of it or nothing: secrets that were made but never printed would leave nobody a way in.
    """
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    administrator = User.objects.create_superuser(ADMINISTRATOR, password, display_name="Administrator")
    keys = seed()
    writer = next(seeded for seeded in keys if seeded.user.email == WRITER)
    access = access_for_key(writer.secret or "", surface="command")
    if access is None:
        raise Conflict("The demo key does not authenticate.")
    for text, category in _SAMPLES:
        save_memory(access, content=text, category=category)
    return Demo(administrator=administrator, password=password, keys=keys)


def _space(key: str, name: str) -> Space:
    return find_space(key) or create_space(key=key, name=name)


def _key(user: User, grants: Sequence[RequestedGrant], *, renew: bool) -> SeededKey:
    existing = ApiKey.objects.filter(user=user, label=LABEL, revoked_at=None).order_by("created_at", "id").first()
    if existing is not None and not renew:
        return SeededKey(user=user, key=existing, secret=None)
    for key in ApiKey.objects.filter(user=user, label=LABEL, revoked_at=None):
        revoke_key(key)
    new: NewKey = create_api_key(user, grants=grants, label=LABEL)
    return SeededKey(user=user, key=new.key, secret=new.secret)
