"""What the people who sign in to the admin may see there: superusers everything, others the spaces they manage."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from accounts.models import Role, User
from core.errors import AppError
from spaces.access import AccessContext, Credential, SpaceAccess, role_ceiling
from spaces.models import AccessLevel, Space, SpaceGroupPermission, SpaceUserPermission

# How a list's own filter by space stands in the address.
_SPACE_FILTER = "space__id__exact"


def managed_space_ids(user: Any) -> list[uuid.UUID] | None:
    """The spaces `user` manages, alone or through a group; None means all of them (a superuser)."""
    if not user.is_active or not user.is_staff:
        return []
    if user.is_superuser:
        return None
    direct = SpaceUserPermission.objects.filter(user=user, permission__codename="manage_space")
    through_groups = SpaceGroupPermission.objects.filter(group__user=user, permission__codename="manage_space")
    return list(
        direct.values_list("content_object_id", flat=True).union(
            through_groups.values_list("content_object_id", flat=True)
        )
    )


def staff_access(user: User, spaces: Sequence[Space]) -> AccessContext:
    """The snapshot with which a person acts in the admin on spaces they were shown there."""
    ceiling = AccessLevel.READ_WRITE if user.is_superuser else role_ceiling(user)
    return AccessContext(
        user_id=user.id,
        email=user.email,
        display_name=user.display_name,
        role=Role(user.role),
        credential=Credential(surface="admin"),
        spaces=tuple(
            SpaceAccess(id=space.id, key=space.key, name=space.name, language=space.language, level=ceiling)
            for space in spaces
        ),
    )


class SpaceOwnedAdmin(admin.ModelAdmin[Any]):
    """Base of every admin whose rows belong to a space: shows those of managed spaces, and fails closed.

    `space_path` leads from a row to its space's id. Non-superusers need no model permission beside managing a space.
    """

    space_path: ClassVar[str] = "space_id"
    # What an id in the search field is compared with.
    id_paths: ClassVar[tuple[str, ...]] = ("id",)
    # A substring of long texts is looked for in one space, or in this many of the newest rows; None: everywhere.
    searched_without_space: ClassVar[int | None] = None
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        managed = managed_space_ids(request.user)
        return rows if managed is None else rows.filter(Q(**{f"{self.space_path}__in": managed}))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        try:
            identifier = uuid.UUID(search_term.strip())
        except ValueError:
            pass
        else:
            matches = Q()
            for id_path in self.id_paths:
                matches |= Q(**{id_path: identifier})
            return queryset.filter(matches), False
        if search_term and self.searched_without_space is not None and _SPACE_FILTER not in request.GET:
            order: Any = self.get_ordering(request) or self.opts.ordering
            newest = queryset.order_by(*order).values("pk")[: self.searched_without_space]
            queryset = queryset.filter(pk__in=newest)
        return super().get_search_results(request, queryset, search_term)

    def act_on(self, request: HttpRequest, rows: QuerySet[Any], act: Callable[[AccessContext, Any], bool]) -> int:
        """`act` on each row that has a space, as the person who signed in; says each refusal once.

        Returns for how many `act` told that something changed.
        """
        if not isinstance(request.user, User):
            return 0
        found = list(rows.select_related("space"))
        access = staff_access(request.user, list({row.space_id: row.space for row in found}.values()))
        number = 0
        refusals: dict[str, None] = {}
        for row in found:
            try:
                number += act(access, row)
            except AppError as error:
                refusals[error.message] = None
        for refusal in refusals:
            self.message_user(request, refusal, messages.ERROR)
        return number

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _administers(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _administers(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def _administers(user: Any) -> bool:
    managed = managed_space_ids(user)
    return managed is None or bool(managed)
