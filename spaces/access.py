"""Access, resolved once a request into an immutable snapshot that every service takes first.

    access = access_for_key(presented)             # None: 401
    space = access.space("team", AccessLevel.READ_WRITE)

Effective level = min(role ceiling, membership, grant of the key). What is not in the snapshot does not exist for the
caller: an unknown space and a forbidden one raise the same `NotFound`.
"""

import uuid
from dataclasses import dataclass, field

from accounts.keys import hash_key
from accounts.last_used import note_use
from accounts.models import ApiKey, Role, User
from core.errors import AccessDenied, NotFound
from core.text import clean_text, excerpt
from spaces.models import MAXIMUM_KEY, AccessLevel, Space, SpaceGrant, SpaceGroupPermission, SpaceUserPermission

_LEVEL_OF_PERMISSION = {
    "read_space": AccessLevel.READ,
    "write_space": AccessLevel.READ_WRITE,
    "manage_space": AccessLevel.READ_WRITE,
}
_CEILING_OF_ROLE = {Role.WRITER: AccessLevel.READ_WRITE, Role.READER: AccessLevel.READ}


@dataclass(frozen=True)
class _Way:
    """How somebody finds and chooses spaces where they are, in words that end a sentence."""

    listing: str
    choosing: str


_WAYS = {
    "mcp": _Way("listSpaces shows what this key can use", "choose one with setActiveSpace"),
    "rest": _Way("GET /api/v1/spaces shows what this key can use", "choose one with PUT /api/v1/me/active-space"),
}
_IN_WORDS = _Way("an administrator can tell which spaces you have", "have an administrator choose one")


@dataclass(frozen=True)
class SpaceAccess:
    """One space the caller may use, with the level that is left after role, membership and grant."""

    id: uuid.UUID
    key: str
    name: str
    language: str
    level: AccessLevel
    is_default: bool = False


@dataclass(frozen=True)
class Credential:
    """What the caller identified with: an API key (`id` is set), a web login or a command."""

    surface: str
    id: uuid.UUID | None = None
    label: str = ""


@dataclass(frozen=True)
class AccessContext:
    """Who is calling, with what, and which spaces that reaches. Built once a request; services take it first."""

    user_id: uuid.UUID
    email: str
    display_name: str
    role: Role
    credential: Credential
    spaces: tuple[SpaceAccess, ...] = field(default=())

    @property
    def default_space(self) -> SpaceAccess | None:
        return next((space for space in self.spaces if space.is_default), None)

    def space(
        self, tag: str | None, level: AccessLevel = AccessLevel.READ, *, parameter: str = "containerTag"
    ) -> SpaceAccess:
        """The space named `tag`, or the default one when `tag` is None; `parameter` is how the caller names it.

        Raises `NotFound` when the caller has no such space (whether or not it exists) or no default,
        and `AccessDenied` when the caller has it, but below `level`.
        """
        if tag is None:
            found = self.default_space
            if found is None:
                raise NotFound(
                    f"No active space is set for {self._whose}; name one in {parameter}, or {self._way.choosing} "
                    f"({self._way.listing})."
                )
        else:
            tag = clean_text(tag, parameter, maximum=MAXIMUM_KEY)
            found = next((space for space in self.spaces if space.key == tag), None)
            if found is None:
                raise NotFound(
                    f"Space “{excerpt(tag, 60)}” was not found or is not accessible to {self._whose}; "
                    f"{self._way.listing}."
                )
        self.require(found, level)
        return found

    @property
    def _whose(self) -> str:
        return "this key" if self.credential.id else "you"

    @property
    def _way(self) -> "_Way":
        return _WAYS.get(self.credential.surface, _IN_WORDS)

    def space_by_id(self, space_id: uuid.UUID) -> SpaceAccess | None:
        return next((space for space in self.spaces if space.id == space_id), None)

    def require(self, space: SpaceAccess, level: AccessLevel) -> None:
        """Raises `AccessDenied` when the caller's level on `space` is below `level`."""
        if space.level < level:
            raise AccessDenied(
                f"You may read space “{space.key}”, but not write to it; "
                "an administrator can change the role, the membership or the key's grant."
            )


def access_for_key(presented: str, surface: str = "mcp") -> AccessContext | None:
    """The snapshot of an API key as it was presented, or None when the key does not authenticate right now.

    Three queries, whatever the number of spaces: the key with its person, the grants, the memberships.
    """
    key = ApiKey.objects.usable().select_related("user").filter(key_hash=hash_key(presented)).first()
    if key is None:
        return None
    note_use(key.id)
    user = key.user
    ceiling = role_ceiling(user)
    membership = member_levels(user)
    grants = SpaceGrant.objects.filter(api_key=key).select_related("space").order_by("created_at", "id")
    return AccessContext(
        user_id=user.id,
        email=user.email,
        display_name=user.display_name,
        role=Role(user.role),
        credential=Credential(surface=surface, id=key.id, label=key.label),
        spaces=tuple(
            SpaceAccess(
                id=grant.space.id,
                key=grant.space.key,
                name=grant.space.name,
                language=grant.space.language,
                level=min(ceiling, membership[grant.space_id], AccessLevel(grant.access_level)),
                is_default=grant.is_default,
            )
            for grant in grants
            if grant.space_id in membership
        ),
    )


def reading_access(space: Space) -> AccessContext:
    """The snapshot with which a command on the server reads a space, for whoever runs it; it writes nothing."""
    reached = SpaceAccess(space.id, space.key, space.name, space.language, AccessLevel.READ, is_default=True)
    return AccessContext(
        user_id=uuid.UUID(int=0),
        email="",
        display_name="",
        role=Role.READER,
        credential=Credential(surface="command"),
        spaces=(reached,),
    )


def role_ceiling(user: User) -> AccessLevel:
    return _CEILING_OF_ROLE[Role(user.role)]


def member_levels(user: User) -> dict[uuid.UUID, AccessLevel]:
    """The spaces `user` is a member of, alone or through a group, with the highest level of each."""
    direct = SpaceUserPermission.objects.filter(user=user).values_list("content_object_id", "permission__codename")
    through_groups = SpaceGroupPermission.objects.filter(group__user=user).values_list(
        "content_object_id", "permission__codename"
    )
    levels: dict[uuid.UUID, AccessLevel] = {}
    for space_id, codename in direct.union(through_groups):
        level = _LEVEL_OF_PERMISSION.get(codename)
        if level is not None:
            levels[space_id] = max(level, levels.get(space_id, level))
    return levels
