"""Inlines for memberships: one row a member, however many permissions guardian holds for them."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from spaces.forms import (
    GroupByNameForm,
    GroupMemberForm,
    MemberFormSet,
    MembershipForm,
    PersonByAddressForm,
    PersonMemberForm,
)
from spaces.models import SpaceGroupPermission, SpaceUserPermission
from spaces.services.members import MEMBER_PERMISSIONS
from spaces.staff import managed_space_ids


class MemberInline(admin.TabularInline[Any, Any]):
    """Base: `one_row_per` is the path that tells the rows of one member apart and sorts them."""

    formset = MemberFormSet
    extra = 0
    classes = ("says-all",)
    one_row_per: ClassVar[str]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        strength = Case(
            *(When(permission__codename=name, then=Value(rank)) for rank, name in enumerate(MEMBER_PERMISSIONS)),
            output_field=IntegerField(),
        )
        rows = super().get_queryset(request).filter(permission__codename__in=MEMBER_PERMISSIONS)
        # Permissions that were given elsewhere may be several; the strongest is the member's level.
        strongest: QuerySet[Any] = (
            rows.annotate(strength=strength)
            .order_by(self.one_row_per, "-strength")
            .distinct(self.one_row_per)
            .select_related("permission", "content_object", self.one_row_per.partition("__")[0])
        )
        return strongest


class SpaceMemberInline(MemberInline):
    """On a space's page: whoever manages the space gives and takes its memberships, and names members in words."""

    manager_form: ClassVar[type[ModelForm[Any]]]

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        if managed_space_ids(request.user) is not None:
            kwargs["form"] = self.manager_form
        return super().get_formset(request, obj, **kwargs)

    def get_autocomplete_fields(self, request: HttpRequest) -> Any:
        # The lists behind them show everybody, which is for superusers.
        return self.autocomplete_fields if managed_space_ids(request.user) is None else ()

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        managed = managed_space_ids(request.user)
        if managed is None:
            return True
        # Without a space it is asked whether there can be rows at all.
        return bool(managed) if obj is None else obj.pk in managed

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)


class PeopleInline(SpaceMemberInline):
    model = SpaceUserPermission
    form = PersonMemberForm
    manager_form = PersonByAddressForm
    fields = ("user", "level")
    autocomplete_fields = ("user",)
    one_row_per = "user__email"
    verbose_name = _("member")
    verbose_name_plural = _("Members")


class GroupsInline(SpaceMemberInline):
    model = SpaceGroupPermission
    form = GroupMemberForm
    manager_form = GroupByNameForm
    fields = ("group", "level")
    autocomplete_fields = ("group",)
    one_row_per = "group__name"
    verbose_name = _("group")
    verbose_name_plural = _("Groups whose people are members")


class MembershipInline(MemberInline):
    """On a person's page: the spaces they are a member of by themselves."""

    model = SpaceUserPermission
    form = MembershipForm
    fields = ("content_object", "level")
    autocomplete_fields = ("content_object",)
    one_row_per = "content_object__key"
    verbose_name = _("space")
    verbose_name_plural = _("Spaces this person is a member of, beside those of their groups")
