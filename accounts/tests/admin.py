"""Small helpers for tests of the admin.

client = superuser()
client.post(reverse("admin:spaces_space_change", args=[space.pk]), {"name": "New", **rows("grants"), …})
"""

from typing import Any

from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User


def superuser(**options: Any) -> Client:
    """Signed in as `admin@example.org`, who may do everything."""
    client = Client(**options)
    client.force_login(User.objects.create_superuser("admin@example.org", "a long password"))
    return client


def staff(*permissions: str, role: str = "Writer") -> tuple[Client, User]:
    """Signed in as `staff@example.org` with these model permissions by code name, and nothing else."""
    user = User.objects.create_user("staff@example.org", "a long password", is_staff=True, role=role)
    user.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client, user


def rows(prefix: str, *filled: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """The fields of an inline: its rows, of which the first `initial` exist."""
    data: dict[str, Any] = {f"{prefix}-TOTAL_FORMS": len(filled), f"{prefix}-INITIAL_FORMS": initial}
    for number, row in enumerate(filled):
        data |= {f"{prefix}-{number}-{name}": value for name, value in row.items()}
    return data
