"""People and groups in the admin. What they reach is added in `spaces.admin`, and so are the keys, since a key is made
together with its spaces.
"""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.contrib.auth.models import Group
from django.db.models import Aggregate, Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.confirmation import confirmation_page, is_confirmed
from accounts.forms import PersonForm
from accounts.models import ApiKey, User
from accounts.services.users import set_active


def key_state(key: ApiKey) -> str:
    """Whether a key authenticates, and if not, why, in words."""
    if key.revoked_at is not None:
        return str(_("revoked"))
    if key.expires_at is not None and key.expires_at <= timezone.now():
        return str(_("expired"))
    return str(_("usable") if key.user.is_active else _("person inactive"))


def is_superuser(request: HttpRequest) -> bool:
    """People, groups and keys are administered by superusers alone: whoever edits a person can become anybody."""
    return bool(request.user.is_active and getattr(request.user, "is_superuser", False))


def _of_keys(keys: QuerySet[ApiKey], aggregate: Aggregate) -> Subquery:
    """An aggregate over the keys of each person listed; computed for the rows of a page, not for all people."""
    return Subquery(keys.filter(user=OuterRef("pk")).order_by().values("user").annotate(n=aggregate).values("n"))


class KeyInline(admin.TabularInline[ApiKey, User]):
    """The person's keys, to look at; they are made and revoked on their own pages."""

    model = ApiKey
    fields = ("key_prefix", "label", "created_at", "expires_at", "last_used_at", "state")
    readonly_fields = fields
    extra = 0
    can_delete = False
    show_change_link = True
    verbose_name_plural = _("API keys")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        return super().get_queryset(request).select_related("user")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("state"))
    def state(self, key: ApiKey) -> str:
        return key_state(key)


class PersonAdmin(UserAdmin[User]):
    """People: superusers administer all; others see nobody but themselves, and change nothing."""

    form = PersonForm
    add_form = PersonForm
    change_password_form = AdminPasswordChangeForm
    list_display: tuple[str, ...] = (
        "email",
        "display_name",
        "role",
        "is_active",
        "is_staff",
        "usable_keys",
        "last_used",
    )
    list_filter = ("role", "is_active", "is_staff", "groups")
    search_fields = ("email", "display_name")
    ordering = ("email",)
    actions = ("deactivate", "reactivate")
    inlines: ClassVar[Any] = (KeyInline,)
    filter_horizontal = ()
    autocomplete_fields = ("groups",)
    readonly_fields = ("password_state", "created_at", "updated_at", "last_login")
    add_fieldsets = ((None, {"fields": ("email", "display_name", "role")}),)
    fieldsets = (
        (None, {"fields": ("email", "display_name", "role", "is_active")}),
        (_("Groups"), {"fields": ("groups",), "description": _("Members of a group have the group's spaces.")}),
        (
            _("Administration"),
            {
                "fields": ("is_staff", "is_superuser", "password_state"),
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
                key_count=Coalesce(_of_keys(ApiKey.objects.usable(), Count("pk")), 0),
                key_used=_of_keys(ApiKey.objects.all(), Max("last_used_at")),
            )
        )
        return rows if is_superuser(request) else rows.filter(pk=request.user.pk)  # type: ignore[misc]

    def get_inlines(self, request: HttpRequest, obj: User | None) -> Any:
        return self.inlines if obj is not None else ()

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        # Nobody locks themselves out by a wrong tick.
        own = ("is_active", "is_staff", "is_superuser") if obj is not None and obj.pk == request.user.pk else ()
        return (*self.readonly_fields, *own)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return is_superuser(request) and (obj is None or obj.pk != request.user.pk)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # Deleting people loses who wrote what, so it is done one by one, after reading what it means.
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A key is not deleted by itself, but goes with its person.
        deleted, counts, _needed, protected = super().get_deleted_objects(objs, request)
        return deleted, counts, set(), protected

    @admin.display(description=_("keys"), ordering="key_count")
    def usable_keys(self, user: Any) -> int:
        return int(user.key_count)

    @admin.display(description=_("key last used"), ordering="key_used")
    def last_used(self, user: Any) -> Any:
        return user.key_used

    @admin.display(description=_("password"))
    def password_state(self, user: User) -> str:
        return format_html(
            '{} <a href="{}">{}</a>',
            _("A password is set.") if user.has_usable_password() else _("None, so this person cannot sign in here."),
            reverse("admin:auth_user_password_change", args=[user.pk]),
            _("Set a new one") if user.has_usable_password() else _("Set one"),
        )

    @admin.action(description=_("Deactivate: refuse these people and all their keys"), permissions=["change"])
    def deactivate(self, request: HttpRequest, people: QuerySet[User]) -> HttpResponse | None:
        others = people.exclude(pk=request.user.pk)  # type: ignore[misc]
        if people.filter(pk=request.user.pk).exists():  # type: ignore[misc]
            self.message_user(request, _("You cannot deactivate yourself."), messages.WARNING)
        if not is_confirmed(request) and others.exists():
            return confirmation_page(
                self,
                request,
                others,
                action="deactivate",
                title=_("Deactivate these people?"),
                consequence=_(
                    "They and all their keys are refused from the next request on. What they saved stays, with their "
                    "name. Reactivating brings back the keys that were not revoked."
                ),
            )
        number = sum(set_active(user, False) for user in others)
        self.message_user(
            request,
            ngettext("%(n)d person is inactive from now on.", "%(n)d people are inactive from now on.", number)
            % {"n": number},
        )
        return None

    @admin.action(description=_("Reactivate"), permissions=["change"])
    def reactivate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        number = sum(set_active(user, True) for user in people)
        self.message_user(
            request,
            ngettext("%(n)d person is active again.", "%(n)d people are active again.", number) % {"n": number},
        )


class GroupMemberInline(admin.TabularInline[Any, Group]):
    """Who is in a group."""

    model = User.groups.through
    autocomplete_fields = ("user",)
    extra = 0
    classes = ("says-all",)
    verbose_name = _("member")
    verbose_name_plural = _("Members")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user", "group")

    def get_formset(self, request: HttpRequest, obj: Group | None = None, **kwargs: Any) -> Any:
        return super().get_formset(request, obj, labels={"user": _("Person")}, **kwargs)


class TeamAdmin(admin.ModelAdmin[Group]):
    """Groups: name and members. Model permissions of groups mean nothing here; spaces are given to groups instead."""

    fields = ("name",)
    list_display: tuple[str, ...] = ("name", "members")
    search_fields = ("name",)
    inlines = (GroupMemberInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        return super().get_queryset(request).annotate(member_count=Count("user"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return is_superuser(request)

    @admin.display(description=_("members"), ordering="member_count")
    def members(self, group: Any) -> int:
        return int(group.member_count)


admin.site.site_header = _("Memory")
admin.site.site_title = _("Memory")
admin.site.index_title = _("Administration")
admin.site.register(User, PersonAdmin)
admin.site.unregister(Group)
admin.site.register(Group, TeamAdmin)
