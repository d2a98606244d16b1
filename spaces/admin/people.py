"""People with the spaces they are members of: `accounts` knows nothing of spaces, so it is added here."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.admin import PersonAdmin, TeamAdmin
from accounts.models import User
from spaces.admin.members import MembershipInline

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class MemberAdmin(PersonAdmin):
    list_display = (
        "email",
        "display_name",
        "role",
        "is_active",
        "spaces",
        "usable_keys",
        "last_used",
        "is_staff",
    )
    inlines: ClassVar[Any] = (MembershipInline, *PersonAdmin.inlines)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return (
            super()
            .get_queryset(request)
            .prefetch_related("spaceuserpermission_set", "groups__spacegrouppermission_set")
        )

    @admin.display(description=_("spaces"))
    def spaces(self, user: Any) -> int:
        """How many spaces the person is a member of, alone or through groups."""
        rows = [*user.spaceuserpermission_set.all()]
        for group in user.groups.all():
            rows += group.spacegrouppermission_set.all()
        return len({row.content_object_id for row in rows})


@admin.register(Group)
class MemberGroupAdmin(TeamAdmin):
    list_display = ("name", "members", "spaces")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        return super().get_queryset(request).prefetch_related("spacegrouppermission_set__content_object")

    @admin.display(description=_("spaces"))
    def spaces(self, group: Any) -> str:
        keys = {row.content_object.key for row in group.spacegrouppermission_set.all()}
        return ", ".join(sorted(keys)) or "–"
