"""Memories and their search tables in the admin: to look at, and to forget; texts are never changed here."""

from collections import defaultdict
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.models import User
from core.errors import AppError
from core.text import excerpt
from memories.models import Edge, EmbeddingIndex, EmbeddingModel, Memory, PendingEmbedding
from memories.services.forget import forget_by_id
from spaces.models import Space
from spaces.staff import SpaceOwnedAdmin, managed_space_ids, staff_access


@admin.register(Memory)
class MemoryAdmin(SpaceOwnedAdmin):
    list_display = ("beginning", "space", "category", "is_active", "author", "created_via", "created_at")
    list_filter = ("is_active", "created_via", ("space", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("space", "created_by")
    search_fields = ("text",)
    search_help_text = _("An id, or part of the text: in the chosen space, or in the 10,000 newest memories.")
    searched_without_space = 10_000
    date_hierarchy = "created_at"
    actions = ("forget",)
    fields = (
        "text", "space", "category", "source", "document", "is_active", "superseded_by", "version",
        "created_by", "created_by_key", "created_via", "created_at", "updated_by", "updated_at",
    )  # fmt: skip
    readonly_fields = fields

    @admin.display(description=_("text"), ordering="text")
    def beginning(self, memory: Memory) -> str:
        return excerpt(memory.text, 100)

    @admin.display(description=_("created by"), ordering="created_by__display_name")
    def author(self, memory: Memory) -> str:
        return memory.created_by.display_name if memory.created_by else "–"

    def get_actions(self, request: HttpRequest) -> Any:
        return super().get_actions(request) | self._own_actions()

    def _own_actions(self) -> dict[str, Any]:
        action = self.get_action("forget")
        return {action[1]: action} if action else {}

    @admin.action(description=_("Forget: take out of search, keep the record"))
    def forget(self, request: HttpRequest, memories: QuerySet[Memory]) -> None:
        by_space: dict[Space, list[Memory]] = defaultdict(list)
        for memory in memories.select_related("space"):
            by_space[memory.space].append(memory)
        if not isinstance(request.user, User):
            return
        access = staff_access(request.user, list(by_space))
        number = 0
        refusals: dict[str, None] = {}
        for memory in (memory for rows in by_space.values() for memory in rows):
            try:
                number += len(forget_by_id(access, memory.id).memories)
            except AppError as error:
                refusals[error.message] = None
        for refusal in refusals:
            self.message_user(request, refusal, messages.ERROR)
        said = ngettext("%(n)d memory was forgotten.", "%(n)d memories were forgotten.", number) % {"n": number}
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


@admin.register(PendingEmbedding)
class PendingEmbeddingAdmin(SpaceOwnedAdmin):
    list_display = ("memory", "space", "model", "attempts", "next_attempt_at", "reason")
    list_filter = ("model", ("space", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("memory", "space", "model")
    search_fields = ("reason",)
    search_help_text = _("The id of a memory, or part of the reason.")
    id_paths = ("memory_id",)


@admin.register(EmbeddingIndex)
class EmbeddingIndexAdmin(SpaceOwnedAdmin):
    list_display = ("space", "model", "row_count", "is_ready", "name", "updated_at")
    list_select_related = ("space", "model")


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(SpaceOwnedAdmin):
    """Models belong to no space: superusers see them."""

    list_display = ("slug", "dimensions", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmbeddingModel]:
        rows: QuerySet[EmbeddingModel] = admin.ModelAdmin.get_queryset(self, request)
        return rows if managed_space_ids(request.user) is None else rows.none()
