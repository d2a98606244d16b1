"""Spaces, their members, and the keys that reach them, in the admin."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache

from accounts.models import ApiKey
from accounts.sealing import seal, unseal
from accounts.services.keys import revoke_key
from spaces.access import member_levels, role_ceiling
from spaces.forms import GrantFormSet, GroupMemberForm, KeyForm, MemberFormSet, PersonMemberForm
from spaces.models import AccessLevel, Space, SpaceGrant, SpaceGroupPermission, SpaceUserPermission
from spaces.services.provisioning import NewKey, RequestedGrant, create_api_key, save_grants
from spaces.signals import space_language_changed
from spaces.staff import SpaceOwnedAdmin, managed_space_ids

_SECRET_IN_SESSION = "new_api_key"  # noqa: S105 - the name of the place, not what is in it


class PeopleInline(admin.TabularInline[SpaceUserPermission, Space]):
    model = SpaceUserPermission
    form = PersonMemberForm
    formset = MemberFormSet
    fields = ("user", "level")
    autocomplete_fields = ("user",)
    extra = 0
    verbose_name = _("member")
    verbose_name_plural = _("Members")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpaceUserPermission]:
        return super().get_queryset(request).select_related("user", "permission")


class GroupsInline(admin.TabularInline[SpaceGroupPermission, Space]):
    model = SpaceGroupPermission
    form = GroupMemberForm
    formset = MemberFormSet
    fields = ("group", "level")
    autocomplete_fields = ("group",)
    extra = 0
    verbose_name = _("group")
    verbose_name_plural = _("Groups whose people are members")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpaceGroupPermission]:
        return super().get_queryset(request).select_related("group", "permission")


class SpaceGrantsInline(admin.TabularInline[SpaceGrant, Space]):
    """Which keys reach the space, to look at."""

    model = SpaceGrant
    fields = readonly_fields = ("api_key", "owner", "access_level", "is_default")
    extra = 0
    can_delete = False
    verbose_name_plural = _("Keys that reach this space")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpaceGrant]:
        return super().get_queryset(request).select_related("api_key__user")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("person"))
    def owner(self, grant: SpaceGrant) -> str:
        return str(grant.api_key.user)


@admin.register(Space)
class SpaceAdmin(SpaceOwnedAdmin):
    """Spaces: superusers create and see all; whoever manages a space sees and changes that one."""

    space_path = "id"
    list_display = ("key", "name", "language", "members", "memories", "documents", "keys")
    search_fields = ("key", "name", "description")
    list_filter = ("language",)
    inlines = (PeopleInline, GroupsInline, SpaceGrantsInline)
    fieldsets = ((None, {"fields": ("key", "name", "description", "language")}),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Space]:
        def counted(relation: str) -> Coalesce:
            numbers = Space.objects.filter(id=OuterRef("id")).annotate(n=Count(relation)).values("n")
            return Coalesce(Subquery(numbers), 0)

        rows: QuerySet[Space] = (
            super()
            .get_queryset(request)
            .annotate(
                member_count=counted("user_permissions__user"),
                document_count=counted("documents"),
                key_count=counted("grants"),
                memory_count=Coalesce("statistics__memory_count", 0),
            )
        )
        return rows

    def get_readonly_fields(self, request: HttpRequest, obj: Space | None = None) -> tuple[str, ...]:
        # Agents are configured with the key; a renamed one would cut them off.
        return ("key",) if obj is not None else ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return managed_space_ids(request.user) is None

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return managed_space_ids(request.user) is None

    def save_model(self, request: HttpRequest, obj: Space, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "language" in form.changed_data:
            space_language_changed.send(Space, space=obj)
            self.message_user(request, _("The words of this space are being indexed anew for its new language."))

    @admin.display(description=_("members"), ordering="member_count")
    def members(self, space: Any) -> int:
        return int(space.member_count)

    @admin.display(description=_("active memories"), ordering="memory_count")
    def memories(self, space: Any) -> int:
        return int(space.memory_count)

    @admin.display(description=_("documents"), ordering="document_count")
    def documents(self, space: Any) -> int:
        return int(space.document_count)

    @admin.display(description=_("keys"), ordering="key_count")
    def keys(self, space: Any) -> int:
        return int(space.key_count)


class GrantInline(admin.TabularInline[SpaceGrant, ApiKey]):
    model = SpaceGrant
    formset = GrantFormSet
    fields = ("space", "access_level", "is_default", "effective")
    readonly_fields = ("effective",)
    autocomplete_fields = ("space",)
    extra = 1
    verbose_name_plural = _("Spaces this key can use")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpaceGrant]:
        return super().get_queryset(request).select_related("space", "api_key__user")

    @admin.display(description=_("in effect"))
    def effective(self, grant: SpaceGrant) -> str:
        if grant._state.adding:
            return "–"
        user = grant.api_key.user
        membership = member_levels(user).get(grant.space_id)
        if membership is None:
            return str(_("None: its person is no member of this space"))
        granted = AccessLevel(grant.access_level)
        ceiling = role_ceiling(user)
        level = min(granted, membership, ceiling)
        if level == granted:
            return str(level.label)
        reason = _("capped by the role") if ceiling < granted else _("capped by the membership")
        return f"{level.label} ({reason})"


class StateFilter(admin.SimpleListFilter):
    """Whether a key authenticates."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("usable", _("usable")), ("revoked", _("revoked")), ("expired", _("expired"))]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "usable":
            return rows.filter(pk__in=ApiKey.objects.usable().values("pk"))
        if self.value() == "revoked":
            return rows.exclude(revoked_at=None)
        if self.value() == "expired":
            return rows.filter(expires_at__lte=timezone.now())
        return rows


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin[ApiKey]):
    """API keys: made here with the spaces they reach; the key itself is shown once, on the page after that."""

    form = KeyForm
    inlines = (GrantInline,)
    list_display = ("prefix", "label", "user", "spaces", "state", "created_at", "last_used_at")
    list_filter = (StateFilter, "user__role")
    list_select_related = ("user",)
    search_fields = ("key_prefix", "label", "user__email", "user__display_name")
    autocomplete_fields = ("user",)
    actions = ("revoke",)
    fields = ("user", "label", "expires_at", "prefix", "state", "created_at", "last_used_at")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        rows = super().get_queryset(request).prefetch_related("grants__space")
        if not getattr(request.user, "is_superuser", False):
            rows = rows.filter(user_id=request.user.pk)  # type: ignore[misc]
        return rows

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        fixed = ("prefix", "state", "created_at", "last_used_at")
        return fixed if obj is None else ("user", *fixed)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        return ("user", "label", "expires_at") if obj is None else self.fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_superuser", False))

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return bool(getattr(request.user, "is_superuser", False)) and (obj is None or obj.revoked_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        # A key is revoked, and stays as the record of what was saved with it.
        return False

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        rows = [row.cleaned_data for row in formset.forms if row.cleaned_data and not row.cleaned_data.get("DELETE")]
        grants = [
            RequestedGrant(row["space"], AccessLevel(row["access_level"]), is_default=row["is_default"])
            for row in rows
            if row.get("space")
        ]
        # What the admin reports as changed.
        formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        results = save_grants(form.instance, grants) if change else self._create(request, form, grants).grants
        for result in results:
            if result.became_member:
                said = _("%(person)s became a member of %(space)s (%(level)s).") % {
                    "person": form.instance.user.display_name,
                    "space": result.grant.space.name,
                    "level": result.granted.label,
                }
                self.message_user(request, said)

    def _create(self, request: HttpRequest, form: Any, grants: list[RequestedGrant]) -> NewKey:
        key = form.instance
        new = create_api_key(
            key.user,
            grants=grants,
            default=next((grant.space for grant in grants if grant.is_default), None),
            label=key.label,
            expires_at=key.expires_at,
        )
        # The form's object becomes the stored one, so that the admin logs and links the right row.
        for field in ApiKey._meta.concrete_fields:
            setattr(key, field.attname, getattr(new.key, field.attname))
        key._state.adding = False
        request.session[_SECRET_IN_SESSION] = {"id": str(new.key.id), "sealed": seal(new.secret)}
        return new

    @transaction.atomic
    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        return super().add_view(request, form_url, extra_context)

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:accounts_apikey_secret", args=[obj.pk]))

    def get_urls(self) -> list[Any]:
        return [
            path(
                "<uuid:key_id>/secret/",
                self.admin_site.admin_view(never_cache(self.secret_view)),
                name="accounts_apikey_secret",
            ),
            *super().get_urls(),
        ]

    def secret_view(self, request: HttpRequest, key_id: Any) -> HttpResponse:
        """The key itself, on the one page after it was made; a reload finds it gone."""
        kept = request.session.pop(_SECRET_IN_SESSION, None)
        secret = unseal(kept["sealed"]) if kept and kept["id"] == str(key_id) else None
        context = {
            **self.admin_site.each_context(request),
            "title": _("New API key"),
            "secret": secret,
            "mcp_address": request.build_absolute_uri("/mcp"),
            "opts": self.opts,
            "key_id": key_id,
        }
        return TemplateResponse(request, "admin/accounts/apikey/secret.html", context)

    @admin.action(description=_("Revoke for good"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> HttpResponse | None:
        if request.POST.get("confirmed") != "yes":
            context = {
                **self.admin_site.each_context(request),
                "title": _("Revoke these keys for good?"),
                "keys": keys,
                "opts": self.opts,
                "action_checkbox_name": helpers.ACTION_CHECKBOX_NAME,
            }
            return TemplateResponse(request, "admin/accounts/apikey/revoke.html", context)
        number = sum(revoke_key(key) for key in keys)
        said = ngettext("%(n)d key was revoked.", "%(n)d keys were revoked.", number) % {"n": number}
        self.message_user(request, said, messages.SUCCESS)
        return None

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_superuser", False))

    @admin.display(description=_("starts with"), ordering="key_prefix")
    def prefix(self, key: ApiKey) -> str:
        return f"{key.key_prefix}…"

    @admin.display(description=_("spaces"))
    def spaces(self, key: ApiKey) -> str:
        return format_html_join(", ", "{}", ((grant.space.key,) for grant in key.grants.all())) or "–"

    @admin.display(description=_("state"))
    def state(self, key: ApiKey) -> str:
        if key.revoked_at is not None:
            return str(_("revoked"))
        if key.expires_at is not None and key.expires_at <= timezone.now():
            return str(_("expired"))
        return str(_("usable") if key.user.is_active else _("person inactive"))
