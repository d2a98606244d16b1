"""Projects: what people and agents call a space that they work in. Writers make their own; managers change them.

made = create_project(access, name="Ferienhaus", sensitivity="niedrig")
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.models import ApiKey, Role, User
from core.errors import AccessDenied, Conflict, Invalid
from core.text import clean_text
from spaces.access import AccessContext
from spaces.models import (
    MAXIMUM_NAME,
    AccessLevel,
    Sensitivity,
    Space,
    SpaceGroupPermission,
    SpaceUserPermission,
)
from spaces.services.members import set_member_permission
from spaces.services.provisioning import MAXIMUM_DESCRIPTION, create_space, grant_space
from spaces.slugs import RESERVED_TOPICS, clean_name, slug_of

_MAXIMUM_SLUG = 64
_GERMAN = {"niedrig": Sensitivity.LOW, "mittel": Sensitivity.MEDIUM, "hoch": Sensitivity.HIGH}


@dataclass(frozen=True)
class Project:
    """A space as its people work in it. `can_manage` says that the caller may change its name and sensitivity."""

    id: uuid.UUID
    key: str
    name: str
    description: str
    sensitivity: Sensitivity
    can_manage: bool


def parse_sensitivity(value: object) -> Sensitivity:
    """low, medium or high, or niedrig, mittel, hoch, in any case. Raises `Invalid`."""
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in Sensitivity.values:
        return Sensitivity(word)
    if word in _GERMAN:
        return _GERMAN[word]
    raise Invalid("sensitivity must be low, medium or high (or niedrig, mittel, hoch).")


def create_project(access: AccessContext, *, name: str, sensitivity: str, description: str | None = None) -> Project:
    """A new space, whose key is made from its name. The caller becomes its manager, and the key in use reaches it.

    Raises `AccessDenied` for Readers, `Invalid` for the input, `Conflict` when there is such a space already.
    """
    if access.role != Role.WRITER:
        raise AccessDenied("Readers cannot create projects; an administrator can change your role.")
    level = parse_sensitivity(sensitivity)
    name = clean_name(name, "name", maximum=MAXIMUM_NAME)
    description = clean_text(description, "description", maximum=MAXIMUM_DESCRIPTION, required=False).strip()
    key = slug_of(name, maximum=_MAXIMUM_SLUG)
    if not key:
        raise Invalid("name must contain letters or digits, of which the project's key is made.")
    if key in RESERVED_TOPICS:
        raise Invalid(f"A project cannot be called “{key}”; choose another name.")
    with transaction.atomic():
        try:
            space = create_space(key=key, name=name, description=description)
        except Conflict:
            raise Conflict(f"A project with the key “{key}” exists already; choose another name.") from None
        space.sensitivity = level
        space.save(update_fields=["sensitivity"])
        set_member_permission(space, User.objects.get(id=access.user_id), "manage_space")
        key_row = ApiKey.objects.filter(id=access.credential.id).first() if access.credential.id else None
        if key_row is not None:
            grant_space(key_row, space, AccessLevel.READ_WRITE)
    return Project(space.id, space.key, space.name, space.description, level, can_manage=True)


def update_project(
    access: AccessContext,
    project: str | None,
    *,
    name: str | None = None,
    description: str | None = None,
    sensitivity: str | None = None,
) -> Project:
    """Change what a project is called and how sensitive it is; its key stays. What is None stays as it is.

    Raises `NotFound` for the project, `AccessDenied` for callers who do not manage it, `Invalid` for the input.
    """
    found = access.space(project, AccessLevel.READ_WRITE)
    if found.id not in managed_spaces(access):
        raise AccessDenied(f"Only managers of project “{found.key}” can change it.")
    changes: dict[str, str] = {}
    if name is not None:
        changes["name"] = clean_name(name, "name", maximum=MAXIMUM_NAME)
    if description is not None:
        changes["description"] = clean_text(
            description, "description", maximum=MAXIMUM_DESCRIPTION, required=False
        ).strip()
    if sensitivity is not None:
        changes["sensitivity"] = parse_sensitivity(sensitivity)
    with transaction.atomic():
        space = Space.objects.select_for_update().get(id=found.id)
        for field, value in changes.items():
            setattr(space, field, value)
        if changes:
            space.save(update_fields=[*changes, "updated_at"])
    return Project(space.id, space.key, space.name, space.description, Sensitivity(space.sensitivity), can_manage=True)


def projects_of(access: AccessContext) -> Sequence[Project]:
    """All projects of the caller, by name. Three queries."""
    managed = managed_spaces(access)
    rows = Space.objects.filter(id__in=[space.id for space in access.spaces]).order_by("name", "key")
    return [
        Project(row.id, row.key, row.name, row.description, Sensitivity(row.sensitivity), row.id in managed)
        for row in rows
    ]


def managed_spaces(access: AccessContext) -> set[uuid.UUID]:
    """Those of the caller's spaces that the person manages, alone or through a group, and may write with this key."""
    writable = [space.id for space in access.spaces if space.level >= AccessLevel.READ_WRITE]
    rows = SpaceUserPermission.objects.filter(
        user_id=access.user_id, content_object_id__in=writable, permission__codename="manage_space"
    ).values_list("content_object_id", flat=True)
    through_groups = SpaceGroupPermission.objects.filter(
        group__user=access.user_id, content_object_id__in=writable, permission__codename="manage_space"
    ).values_list("content_object_id", flat=True)
    return set(rows.union(through_groups))
