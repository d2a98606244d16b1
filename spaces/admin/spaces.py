"""Spaces and their members in the admin."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Field, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.forms import ChoiceField
from django.forms import Field as FormField
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from spaces.admin.members import GroupsInline, PeopleInline
from spaces.languages import installed_languages, language_name
from spaces.models import Space, SpaceGrant
from spaces.signals import space_language_changed
from spaces.staff import SpaceOwnedAdmin, managed_space_ids


class SpaceGrantsInline(admin.TabularInline[SpaceGrant, Space]):
    """Which keys reach the space, to look at."""

    model = SpaceGrant
    fields = readonly_fields = ("api_key", "owner", "access_level", "is_default")
    extra = 0
    classes = ("says-all",)
    can_delete = False
    verbose_name_plural = _("Keys that reach this space")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpaceGrant]:
        return super().get_queryset(request).select_related("api_key__user")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("person"))
    def owner(self, grant: SpaceGrant) -> str:
        return str(grant.api_key.user)


class LanguageFilter(admin.SimpleListFilter):
    """The languages that spaces have, by the names people give them."""

    title = _("language")
    parameter_name = "language"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        used = model_admin.get_queryset(request).order_by("language").values_list("language", flat=True).distinct()
        return [(name, language_name(name)) for name in used]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Space]) -> QuerySet[Space]:
        return queryset.filter(language=self.value()) if self.value() else queryset


@admin.register(Space)
class SpaceAdmin(SpaceOwnedAdmin):
    """Spaces: superusers create and see all; whoever manages a space sees and changes that one."""

    space_path = "id"
    list_display = ("key", "name", "spoken", "members", "memories", "documents", "keys")
    search_fields = ("key", "name", "description")
    list_filter = (LanguageFilter,)
    inlines = (PeopleInline, GroupsInline, SpaceGrantsInline)
    fieldsets = ((None, {"fields": ("key", "name", "description", "language", "sensitivity")}),)
    actions = ("index_words",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Space]:
        def counted(relation: str, *, distinct: bool = False) -> Coalesce:
            numbers = Space.objects.filter(id=OuterRef("id")).annotate(n=Count(relation, distinct=distinct)).values("n")
            return Coalesce(Subquery(numbers), 0)

        rows: QuerySet[Space] = (
            super()
            .get_queryset(request)
            .annotate(
                member_count=counted("user_permissions__user", distinct=True),
                document_count=counted("documents"),
                key_count=counted("grants"),
                memory_count=Coalesce("statistics__memory_count", 0),
            )
        )
        return rows

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> FormField | None:
        if db_field.name == "language":
            return ChoiceField(
                choices=installed_languages,
                label=db_field.verbose_name,
                help_text=db_field.help_text,
                initial=db_field.default,
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: Space | None = None) -> tuple[str, ...]:
        # Agents are configured with the key; a renamed one would cut them off.
        return ("key",) if obj is not None else ()

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return managed_space_ids(request.user) is None

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # What was remembered is never deleted by a click; only a space without anything in it goes.
        empty = obj is None or not (obj.memories.exists() or obj.documents.exists())
        return empty and managed_space_ids(request.user) is None

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # Grants and memberships go with their space.
        deleted, counts, _needed, protected = super().get_deleted_objects(objs, request)
        return deleted, counts, set(), protected

    def save_model(self, request: HttpRequest, obj: Space, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "language" in form.changed_data:
            space_language_changed.send(Space, space=obj)
            self.message_user(request, _("The words of this space are being indexed anew for its new language."))

    @admin.action(description=_("Index the words anew"), permissions=["change"])
    def index_words(self, request: HttpRequest, spaces: QuerySet[Space]) -> None:
        for space in spaces:
            space_language_changed.send(Space, space=space)
        self.message_user(request, _("The words of these spaces are being indexed anew."))

    @admin.display(description=_("language"), ordering="language")
    def spoken(self, space: Space) -> str:
        return language_name(space.language)

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
