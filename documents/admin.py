"""Documents in the admin, to look at."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from documents.models import Document
from spaces.staff import SpaceOwnedAdmin


@admin.register(Document)
class DocumentAdmin(SpaceOwnedAdmin):
    list_display = ("title", "doc_type", "status", "space", "author", "created_via", "updated_at")
    list_filter = ("status", "doc_type", ("space", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("space", "created_by")
    search_fields = ("title",)
    search_help_text = _("An id, or part of the title: in the chosen space, or in the 10,000 newest documents.")
    searched_without_space = 10_000
    date_hierarchy = "updated_at"
    fields = readonly_fields = (
        "title", "doc_type", "status", "space", "summary", "raw_content",
        "created_by", "created_by_key", "created_via", "created_at", "updated_by", "updated_at",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        # A list needs no contents, which may be megabytes each.
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("changelist")
        return rows.defer("raw_content") if is_list else rows

    @admin.display(description=_("created by"), ordering="created_by__display_name")
    def author(self, document: Document) -> str:
        return document.created_by.display_name if document.created_by else "–"
