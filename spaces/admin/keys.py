"""API keys and the spaces they reach, in the admin."""

import uuid
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache

from accounts.admin import is_superuser, key_state
from accounts.confirmation import confirmation_page, is_confirmed
from accounts.models import ApiKey
from accounts.sealing import seal, unseal
from accounts.services.keys import revoke_key
from spaces.access import member_levels, role_ceiling
from spaces.forms import GrantFormSet, KeyForm
from spaces.models import AccessLevel, SpaceGrant
from spaces.services.provisioning import NewKey, RequestedGrant, create_api_key, save_grants

_SECRETS_IN_SESSION = "new_api_keys"


class GrantInline(admin.TabularInline[SpaceGrant, ApiKey]):
    model = SpaceGrant
    formset = GrantFormSet
    fields = ("space", "access_level", "is_default", "effective")
    readonly_fields = ("effective",)
    autocomplete_fields = ("space",)
    extra = 1
    classes = ("says-all",)
    verbose_name = _("space")
    verbose_name_plural = _("Spaces this key can use")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpaceGrant]:
        return super().get_queryset(request).select_related("space", "api_key__user")

    def get_formset(self, request: HttpRequest, obj: ApiKey | None = None, **kwargs: Any) -> Any:
        # An inline lives as long as one request: the person's memberships are read once for all rows.
        self._levels = member_levels(obj.user) if obj is not None else {}
        return super().get_formset(request, obj, **kwargs)

    @admin.display(description=_("in effect"))
    def effective(self, grant: SpaceGrant) -> str:
        if grant._state.adding:
            return "–"
        user = grant.api_key.user
        membership = self._levels.get(grant.space_id)
        if membership is None:
            return str(_("None: its person is no member of this space"))
        granted = AccessLevel(grant.access_level)
        ceiling = role_ceiling(user)
        level = min(granted, membership, ceiling)
        if level == granted:
            return str(level.label)
        if ceiling < granted:
            return _("%(level)s, capped by the role %(role)s") % {
                "level": level.label,
                "role": user.get_role_display(),
            }
        return _("%(level)s, capped by the membership") % {"level": level.label}


class StateFilter(admin.SimpleListFilter):
    """Whether a key authenticates."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("usable", _("usable")),
            ("revoked", _("revoked")),
            ("expired", _("expired")),
            ("inactive", _("person inactive")),
        ]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "usable":
            return rows.filter(pk__in=ApiKey.objects.usable().values("pk"))
        if self.value() == "revoked":
            return rows.exclude(revoked_at=None)
        if self.value() == "expired":
            return rows.filter(revoked_at=None, expires_at__lte=timezone.now())
        if self.value() == "inactive":
            return rows.filter(user__is_active=False)
        return rows


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin[ApiKey]):
    """API keys: made here with the spaces they reach; the key itself is shown once, on the page after that."""

    form = KeyForm
    inlines = (GrantInline,)
    list_display = ("prefix", "label", "user", "spaces", "state", "last_used_at", "created_at")
    list_filter = (StateFilter, "user__role")
    list_select_related = ("user",)
    search_fields = ("key_prefix", "label", "user__email", "user__display_name")
    autocomplete_fields = ("user",)
    actions = ("revoke",)
    fields = ("user", "label", "expires_at", "prefix", "state", "created_at", "last_used_at")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        rows = super().get_queryset(request).prefetch_related("grants__space")
        return rows if is_superuser(request) else rows.filter(user_id=request.user.pk)  # type: ignore[misc]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        fixed = ("prefix", "state", "created_at", "last_used_at")
        return fixed if obj is None else ("user", *fixed)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        return ("user", "label", "expires_at") if obj is None else self.fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return is_superuser(request) and (obj is None or obj.revoked_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        # A key is revoked, and stays as the record of what was saved with it.
        return False

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            # Only what the form holds: a key that is revoked meanwhile stays revoked.
            obj.save(update_fields=["label", "expires_at"])

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
        kept = request.session.get(_SECRETS_IN_SESSION, {})
        waiting = {key_id: sealed for key_id, sealed in kept.items() if unseal(sealed)}
        request.session[_SECRETS_IN_SESSION] = {**waiting, str(new.key.id): seal(new.secret)}
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
            path("<uuid:key_id>/revoke/", self.admin_site.admin_view(self.revoke_view), name="accounts_apikey_revoke"),
            *super().get_urls(),
        ]

    def secret_view(self, request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
        """The key itself, on the one page after it was made; a reload finds it gone."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if not self.get_queryset(request).filter(pk=key_id).exists():
            raise Http404
        kept = request.session.get(_SECRETS_IN_SESSION, {})
        sealed = kept.pop(str(key_id), None)
        request.session.modified = True
        secret = unseal(sealed) if sealed else None
        context = {
            **self.admin_site.each_context(request),
            "title": _("New API key"),
            "secret": secret,
            "mcp_address": request.build_absolute_uri("/mcp"),
            "opts": self.opts,
            "key_id": key_id,
        }
        return TemplateResponse(request, "admin/accounts/apikey/secret.html", context)

    def revoke_view(self, request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
        """Asks whether to revoke the one key."""
        keys = self.get_queryset(request).select_related("user").filter(pk=key_id)
        if not self.has_revoke_permission(request) or not keys:
            raise Http404
        return self._ask(request, keys)

    def _ask(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> TemplateResponse:
        return confirmation_page(
            self,
            request,
            keys,
            action="revoke",
            title=_("Revoke for good?"),
            named=lambda key: f"{key} – {key.user}",
            consequence=_("What uses this is refused from the next request on. This cannot be undone."),
        )

    @admin.action(description=_("Revoke for good"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> HttpResponse | None:
        if not is_confirmed(request):
            return self._ask(request, keys.select_related("user"))
        number = sum(revoke_key(key) for key in keys)
        said = ngettext("%(n)d key was revoked.", "%(n)d keys were revoked.", number) % {"n": number}
        self.message_user(request, said, messages.SUCCESS)
        return None

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request)

    @admin.display(description=_("starts with"), ordering="key_prefix")
    def prefix(self, key: ApiKey) -> str:
        return f"{key.key_prefix}…"

    @admin.display(description=_("spaces"))
    def spaces(self, key: ApiKey) -> str:
        return format_html_join(", ", "{}", ((grant.space.key,) for grant in key.grants.all())) or "–"

    @admin.display(description=_("state"))
    def state(self, key: ApiKey) -> str:
        return key_state(key)
