"""Everybody a space must be closed to, and those who may read it and change nothing. Each gives the key they hold."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from accounts.models import ApiKey, Role
from accounts.services.keys import revoke_key
from accounts.services.users import set_active
from memories.tests.factories import make_key, make_person, make_space
from spaces.models import AccessLevel, Space, SpaceUserPermission
from spaces.services.members import set_member_permission


@dataclass(frozen=True)
class Outsider:
    """`sees`: nothing (the key works elsewhere), no_key (it does not authenticate), reads (and changes nothing)."""

    name: str
    sees: str
    key: Callable[[Space], str]


def _other_tenant(space: Space) -> str:
    return make_key(make_person("Outsider"), make_space("elsewhere")).secret


def _empty_grants(space: Space) -> str:
    return make_key(make_person("Outsider")).secret


def _narrowed_key(space: Space) -> str:
    person = make_person("Outsider")
    set_member_permission(space, person, "write_space")
    return make_key(person, make_space("elsewhere")).secret


def _removed_member(space: Space) -> str:
    person = make_person("Outsider")
    new = make_key(person, make_space("elsewhere"), space)
    SpaceUserPermission.objects.filter(user=person, content_object=space).delete()
    return new.secret


def _revoked_key(space: Space) -> str:
    new = make_key(make_person("Outsider"), space)
    revoke_key(new.key)
    return new.secret


def _expired_key(space: Space) -> str:
    new = make_key(make_person("Outsider"), space)
    ApiKey.objects.filter(id=new.key.id).update(expires_at=timezone.now() - timedelta(seconds=1))
    return new.secret


def _deactivated_person(space: Space) -> str:
    person = make_person("Outsider")
    new = make_key(person, space)
    set_active(person, False)
    return new.secret


def _reader(space: Space) -> str:
    return make_key(make_person("Outsider", role=Role.READER), space).secret


def _reading_key(space: Space) -> str:
    return make_key(make_person("Outsider"), space, level=AccessLevel.READ).secret


OUTSIDERS = (
    Outsider("other tenant", "nothing", _other_tenant),
    Outsider("key without grants", "nothing", _empty_grants),
    Outsider("key narrowed to another space", "nothing", _narrowed_key),
    Outsider("removed member", "nothing", _removed_member),
    Outsider("revoked key", "no_key", _revoked_key),
    Outsider("expired key", "no_key", _expired_key),
    Outsider("deactivated person", "no_key", _deactivated_person),
    Outsider("Reader", "reads", _reader),
    Outsider("key narrowed to reading", "reads", _reading_key),
)
