"""Work that waits in the admin: documents to process and embeddings to make, with the reasons, and a retry."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from documents.models import Claimed, PendingDocument
from memories import jobs
from memories.models import PendingEmbedding
from memories.services.retries import retry_documents, retry_embeddings
from spaces.models import SpaceOwnedQuerySet
from spaces.staff import SpaceOwnedAdmin


class StateFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("waiting", _("waiting")), ("running", _("running")), ("failed", _("failed"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now = timezone.now()
        states: dict[str | None, Q] = {
            "waiting": jobs.waiting(now),
            "running": jobs.running(now),
            "failed": jobs.failed(),
        }
        chosen = states.get(self.value())
        return queryset if chosen is None else queryset.filter(chosen)


class JobAdmin(SpaceOwnedAdmin):
    """Base of both kinds of work: the numbers above the list, and a retry of those chosen or of all that failed."""

    change_list_template = "admin/memories/jobs/change_list.html"
    list_filter: ClassVar[Any] = (StateFilter, ("space", admin.RelatedOnlyFieldListFilter))
    actions = ("retry",)
    ordering = ("created_at", "id")
    search_fields = ("reason",)

    def again(self, rows: SpaceOwnedQuerySet) -> int:
        """Make rows due now; returns how many."""
        raise NotImplementedError

    def get_actions(self, request: HttpRequest) -> Any:
        action = self.get_action("retry")
        return super().get_actions(request) | ({action[1]: action} if action else {})

    @admin.display(description=_("state"))
    def state(self, row: Claimed) -> Any:
        if row.failed_at is not None:
            return _("failed")
        return _("running") if row.claimed_at is not None and row.next_attempt_at > timezone.now() else _("waiting")

    @admin.action(description=_("Try again now"))
    def retry(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        self._tell(request, self.again(self.model._default_manager.filter(pk__in=rows.values("pk"))))

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_retry"
        view: Callable[..., HttpResponse] = self.admin_site.admin_view(self.retry_failed_view)
        return [path("retry-failed/", view, name=name), *super().get_urls()]

    def retry_failed_view(self, request: HttpRequest) -> HttpResponse:
        """Try again everything of this kind that failed in the spaces of whoever asks."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_view_permission(request):
            raise PermissionDenied
        shown = self.get_queryset(request).filter(jobs.failed())
        self._tell(request, self.again(self.model._default_manager.filter(pk__in=shown.values("pk"))))
        return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().changelist_view(request, {"jobs": jobs.count_jobs(), **(extra_context or {})})

    def _tell(self, request: HttpRequest, number: int) -> None:
        said = ngettext("%(n)d is tried again.", "%(n)d are tried again.", number) % {"n": number}
        self.message_user(request, said)


@admin.register(PendingDocument)
class PendingDocumentAdmin(JobAdmin):
    list_display = ("document", "space", "state", "reason", "attempts", "next_attempt_at", "created_at")
    list_select_related = ("document", "space")
    search_help_text = _("The id of a document, or part of the reason.")
    id_paths = ("document_id",)

    def again(self, rows: SpaceOwnedQuerySet) -> int:
        return retry_documents(rows)


@admin.register(PendingEmbedding)
class PendingEmbeddingAdmin(JobAdmin):
    list_display = ("memory", "space", "model", "state", "reason", "attempts", "next_attempt_at", "created_at")
    list_filter: ClassVar[Any] = (StateFilter, "model", ("space", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("memory", "space", "model")
    search_help_text = _("The id of a memory, or part of the reason.")
    id_paths = ("memory_id",)

    def again(self, rows: SpaceOwnedQuerySet) -> int:
        return retry_embeddings(rows)
