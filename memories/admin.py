"""Memories and their search tables in the admin: to look at, to forget and to restore; texts are never changed here."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from core.text import excerpt
from memories import contested_admin, embedding_models_admin, jobs_admin
from memories.contested_admin import ReasonForm
from memories.models import Edge, EmbeddingIndex, Memory
from memories.services.forget import forget_by_id
from memories.services.restore import restore_memory
from spaces.access import AccessContext
from spaces.staff import SpaceOwnedAdmin

__all__ = ["MemoryAdmin", "contested_admin", "embedding_models_admin", "jobs_admin"]


@admin.register(Memory)
class MemoryAdmin(SpaceOwnedAdmin):
    list_display = (
        "beginning", "space", "category", "is_active", "author", "created_via", "created_at", "forgotten_by",
    )  # fmt: skip
    list_filter = ("is_active", "created_via", ("space", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("space", "created_by", "deactivated_by")
    search_fields = ("text",)
    search_help_text = _("An id, or part of the text: in the chosen space, or in the 10,000 newest memories.")
    searched_without_space = 10_000
    date_hierarchy = "created_at"
    actions = ("forget", "restore")
    action_form = ReasonForm
    fields = (
        "text", "space", "category", "source", "document", "is_active", "superseded_by", "version",
        "created_by", "created_by_key", "created_via", "created_at", "updated_by", "updated_at",
        "deactivated_by", "deactivated_at", "deactivation_reason",
    )  # fmt: skip
    readonly_fields = fields

    @admin.display(description=_("text"), ordering="text")
    def beginning(self, memory: Memory) -> str:
        return excerpt(memory.text, 100)

    @admin.display(description=_("created by"), ordering="created_by__display_name")
    def author(self, memory: Memory) -> str:
        return memory.created_by.display_name if memory.created_by else "–"

    @admin.display(description=_("forgotten by"), ordering="deactivated_by__display_name")
    def forgotten_by(self, memory: Memory) -> str:
        return memory.deactivated_by.display_name if memory.deactivated_by else "–"

    @admin.action(description=_("Forget: take out of search, keep the record"))
    def forget(self, request: HttpRequest, memories: QuerySet[Memory]) -> None:
        reason = request.POST.get("reason")

        def act(access: AccessContext, memory: Memory) -> bool:
            return bool(forget_by_id(access, memory.id, reason=reason).memories)

        number = self.act_on(request, memories, act)
        said = ngettext("%(n)d memory was forgotten.", "%(n)d memories were forgotten.", number) % {"n": number}
        self.message_user(request, said)

    @admin.action(description=_("Restore: bring back into search"))
    def restore(self, request: HttpRequest, memories: QuerySet[Memory]) -> None:
        number = self.act_on(request, memories, lambda access, memory: restore_memory(access, memory.id).changed)
        said = ngettext("%(n)d memory was restored.", "%(n)d memories were restored.", number) % {"n": number}
        self.message_user(request, said)


@admin.register(Edge)
class EdgeAdmin(SpaceOwnedAdmin):
    list_display = ("relation_type", "beginning", "end", "note", "space", "created_at")
    list_filter = ("relation_type", ("space", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("space", "from_memory", "to_memory")
    search_fields = ("note",)
    search_help_text = _("An id of the edge or of one of its memories, or part of the note.")
    searched_without_space = 10_000
    id_paths = ("id", "from_memory_id", "to_memory_id")
    ordering = ("-created_at", "-id")
    fields = ("space", "from_memory", "relation_type", "to_memory", "note", "created_by", "created_at")

    @admin.display(description=_("from"))
    def beginning(self, edge: Edge) -> str:
        return excerpt(edge.from_memory.text, 60)

    @admin.display(description=_("to"))
    def end(self, edge: Edge) -> str:
        return excerpt(edge.to_memory.text, 60)


@admin.register(EmbeddingIndex)
class EmbeddingIndexAdmin(SpaceOwnedAdmin):
    list_display = ("space", "model", "row_count", "is_ready", "name", "updated_at")
    list_select_related = ("space", "model")
