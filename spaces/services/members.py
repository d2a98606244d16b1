"""Members: each person or group has one level on a space, stored as one guardian permission."""

from django.contrib.auth.models import Group, Permission
from django.db import transaction

from accounts.models import User
from spaces.models import Space, SpaceGroupPermission, SpaceUserPermission

# The permissions from the weakest to the strongest; each includes those before it.
MEMBER_PERMISSIONS = ("read_space", "write_space", "manage_space")


@transaction.atomic
def set_member_permission(
    space: Space, member: User | Group, codename: str
) -> SpaceUserPermission | SpaceGroupPermission:
    """Make `codename` the one permission of `member` on `space`, and return its row; others are taken away."""
    permission = Permission.objects.get(
        content_type__app_label="spaces", content_type__model="space", codename=codename
    )
    row: SpaceUserPermission | SpaceGroupPermission
    if isinstance(member, Group):
        SpaceGroupPermission.objects.filter(content_object=space, group=member).exclude(permission=permission).delete()
        row, _ = SpaceGroupPermission.objects.get_or_create(content_object=space, group=member, permission=permission)
    else:
        SpaceUserPermission.objects.filter(content_object=space, user=member).exclude(permission=permission).delete()
        row, _ = SpaceUserPermission.objects.get_or_create(content_object=space, user=member, permission=permission)
    return row


def remove_member(space: Space, member: User | Group) -> None:
    """Take the membership away: all keys of these people lose the space with the next request."""
    if isinstance(member, Group):
        SpaceGroupPermission.objects.filter(content_object=space, group=member).delete()
    else:
        SpaceUserPermission.objects.filter(content_object=space, user=member).delete()
