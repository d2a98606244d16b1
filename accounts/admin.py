"""People in the admin. Keys are in `spaces.admin`, since a key is made together with what it reaches."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.contrib.auth.models import Group
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.models import ApiKey, User, normalise_email
from accounts.services.users import set_active


class PersonForm(forms.ModelForm[User]):
    """A person as an administrator enters one: no password needed, since agents sign in with keys."""

    class Meta:
        model = User
        fields = ("email", "display_name", "role")

    def clean_email(self) -> str:
        # Compared in the one stored spelling, so that a taken address is told here and not by the database.
        return normalise_email(self.cleaned_data["email"])

    def save(self, commit: bool = True) -> User:
        user = super().save(commit=False)
        if not user.password:
            user.set_unusable_password()
        if commit:
            user.save()
            self.save_m2m()
        return user


class KeyInline(admin.TabularInline[ApiKey, User]):
    """The person's keys, to look at; they are made and revoked on their own pages."""

    model = ApiKey
    fields = ("key_prefix", "label", "created_at", "expires_at", "last_used_at", "revoked_at")
    readonly_fields = fields
    extra = 0
    can_delete = False
    show_change_link = True
    verbose_name_plural = _("API keys")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    """People: superusers see all, everybody else nobody but themselves."""

    form = PersonForm
    add_form = PersonForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("email", "display_name", "role", "is_active", "is_staff", "usable_keys", "last_used")
    list_filter = ("role", "is_active", "is_staff", "groups")
    search_fields = ("email", "display_name")
    ordering = ("email",)
    actions = ("deactivate", "reactivate")
    inlines = (KeyInline,)
    filter_horizontal = ("groups",)
    readonly_fields = ("created_at", "updated_at", "last_login")
    add_fieldsets = ((None, {"fields": ("email", "display_name", "role")}),)
    fieldsets = (
        (None, {"fields": ("email", "display_name", "role", "is_active")}),
        (_("Groups"), {"fields": ("groups",), "description": _("Members of a group have the group's spaces.")}),
        (
            _("Administration"),
            {
                "fields": ("is_staff", "is_superuser"),
                "description": _(
                    "Who may sign in here needs a password as well. Superusers administer everything, others the "
                    "spaces they manage."
                ),
            },
        ),
        (_("Record"), {"fields": ("created_at", "updated_at", "last_login")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows = (
            super()
            .get_queryset(request)
            .annotate(
                key_count=Count("api_keys", filter=Q(api_keys__revoked_at=None)), key_used=Max("api_keys__last_used_at")
            )
        )
        if not getattr(request.user, "is_superuser", False):
            rows = rows.filter(pk=request.user.pk)  # type: ignore[misc]
        return rows

    def get_inlines(self, request: HttpRequest, obj: User | None) -> Any:
        return self.inlines if obj is not None else ()

    @admin.display(description=_("keys"), ordering="key_count")
    def usable_keys(self, user: Any) -> int:
        return int(user.key_count)

    @admin.display(description=_("key last used"), ordering="key_used")
    def last_used(self, user: Any) -> Any:
        return user.key_used

    @admin.action(description=_("Deactivate: refuse these people and all their keys"), permissions=["change"])
    def deactivate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        others = people.exclude(pk=request.user.pk)  # type: ignore[misc]
        number = sum(set_active(user, False) for user in others)
        self.message_user(
            request,
            ngettext("%(n)d person is inactive from now on.", "%(n)d people are inactive from now on.", number)
            % {"n": number},
        )
        if people.filter(pk=request.user.pk).exists():  # type: ignore[misc]
            self.message_user(request, _("You cannot deactivate yourself."), messages.WARNING)

    @admin.action(description=_("Reactivate"), permissions=["change"])
    def reactivate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        number = sum(set_active(user, True) for user in people)
        self.message_user(
            request,
            ngettext("%(n)d person is active again.", "%(n)d people are active again.", number) % {"n": number},
        )


admin.site.site_header = _("Memory")
admin.site.site_title = _("Memory")
admin.site.index_title = _("Administration")
# Model permissions of groups mean nothing here; a group is a team that spaces are given to.
admin.site.unregister(Group)


@admin.register(Group)
class TeamAdmin(admin.ModelAdmin[Group]):
    """Groups: name and members."""

    fields = ("name",)
    list_display = ("name", "members")
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        return super().get_queryset(request).annotate(member_count=Count("user"))

    @admin.display(description=_("members"), ordering="member_count")
    def members(self, group: Any) -> int:
        return int(group.member_count)
