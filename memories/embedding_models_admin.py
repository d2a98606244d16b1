"""Embedding models in the admin: how far each is, and everything that changes which one is searched by.

Models belong to no space: superusers administer them. What asks a provider runs outside of the admin's transaction.
"""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from core.errors import AppError, Conflict
from memories.embedding.configurations import configurations
from memories.models import EmbeddingModel, ModelState
from memories.services import embedding_models
from memories.services.compare_models import MOST_QUESTIONS, Comparison, compare_models
from spaces.middleware import binds_itself
from spaces.models import Space
from spaces.staff import SpaceOwnedAdmin, managed_space_ids, staff_access

_NAME = "memories_embeddingmodel"


class BackfillForm(forms.Form):
    per_minute = forms.IntegerField(
        label=_("Memories a minute at most"), min_value=0, max_value=1_000_000, initial=0, help_text=_("0: no limit")
    )


class ComparisonForm(forms.Form):
    space = forms.ModelChoiceField(label=_("Space"), queryset=Space.objects.order_by("key"))
    questions = forms.CharField(
        label=_("Questions, one a line"), widget=forms.Textarea(attrs={"rows": 4, "cols": 60}), max_length=20_000
    )

    def clean_questions(self) -> list[str]:
        questions = [line.strip() for line in self.cleaned_data["questions"].splitlines() if line.strip()]
        if len(questions) > MOST_QUESTIONS:
            raise forms.ValidationError(_("At most %(n)d questions are compared.") % {"n": MOST_QUESTIONS})
        return questions


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(SpaceOwnedAdmin):
    list_display = ("slug", "dimensions", "state", "problem", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmbeddingModel]:
        rows: QuerySet[EmbeddingModel] = admin.ModelAdmin.get_queryset(self, request)
        return rows if managed_space_ids(request.user) is None else rows.none()

    def get_urls(self) -> list[Any]:
        def own(route: str, view: Callable[..., HttpResponse], name: str) -> Any:
            return path(route, self.admin_site.admin_view(view), name=f"{_NAME}_{name}")

        return [
            own("configured/", self.configured_view, "configured"),
            own("rollback/", self.roll_back_view, "rollback"),
            own("<int:model_id>/act/", self.act_view, "act"),
            own("<int:model_id>/compare/", self.compare_view, "compare"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """How far the model is, and what can be done with it."""
        model = self.get_object(request, object_id)
        if model is None:
            return super().change_view(request, object_id, form_url, extra_context)
        return self._page(request, model)

    def _page(
        self,
        request: HttpRequest,
        model: EmbeddingModel,
        *,
        backfill: BackfillForm | None = None,
        comparison: ComparisonForm | None = None,
        compared: Comparison | None = None,
    ) -> TemplateResponse:
        state = model.state
        is_idle = state not in (ModelState.SEARCHED, ModelState.DROPPING)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": model.slug,
            "model": model,
            "status": embedding_models.model_status(model),
            "is_working": state in (ModelState.BACKFILLING, ModelState.DROPPING),
            "can_fill": is_idle,
            "can_switch": is_idle,
            "is_complete": state == ModelState.READY,
            "can_retire": state in (ModelState.BACKFILLING, ModelState.READY),
            "can_drop": is_idle,
            "can_compare": is_idle,
            "backfill": backfill or BackfillForm(initial={"per_minute": model.per_minute}),
            "comparison": comparison or ComparisonForm(),
            "compared": compared,
        }
        return TemplateResponse(request, "admin/memories/embeddingmodel/change_form.html", context)

    @binds_itself
    def configured_view(self, request: HttpRequest) -> HttpResponse:
        """The models that the settings describe; one that is chosen is asked, and added."""
        _require_superuser(request)
        if request.method == "POST":
            try:
                model = embedding_models.add_model(request.POST.get("name", ""))
            except AppError as error:
                self.message_user(request, error.message, messages.ERROR)
            else:
                self.log_addition(request, model, "Added.")
                return _to_page(model)
        known = {row.slug for row in embedding_models.list_models()}
        described = [
            (configuration, spec, spec is not None and spec.slug in known)
            for configuration in configurations().values()
            if configuration.provider != "none"
            for spec in [configuration.spec()]
        ]
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Add an embedding model"),
            "described": described,
        }
        return TemplateResponse(request, "admin/memories/embeddingmodel/configured.html", context)

    @binds_itself
    def roll_back_view(self, request: HttpRequest) -> HttpResponse:
        _require_superuser(request)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            model = embedding_models.roll_back()
        except AppError as error:
            self.message_user(request, error.message, messages.ERROR)
        else:
            self._tell(request, model, _("Searches use it again."))
        return HttpResponseRedirect(reverse(f"admin:{_NAME}_changelist"))

    @binds_itself
    def act_view(self, request: HttpRequest, model_id: int) -> HttpResponse:
        """Does one of the things that a model's page offers."""
        model = self._model(request, model_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        form = BackfillForm(request.POST)
        if request.POST.get("action") == "backfill" and not form.is_valid():
            return self._page(request, model, backfill=form)
        try:
            said = self._act(request, model, form)
        except AppError as error:
            self.message_user(request, error.message, messages.ERROR)
        else:
            self._tell(request, model, said)
        return _to_page(model)

    def _act(self, request: HttpRequest, model: EmbeddingModel, form: BackfillForm) -> Any:
        """What was done, in words. Raises `AppError`."""
        action = request.POST.get("action")
        if action == "backfill":
            embedding_models.start_backfill(model, per_minute=form.cleaned_data["per_minute"])
            return _("The worker embeds what is there; new memories are embedded by it too.")
        if action == "switch":
            embedding_models.switch_to(model, incomplete="incomplete" in request.POST)
            return _("Searches use it from now on; the model before it stays ready.")
        if action == "retire":
            embedding_models.retire_model(model)
            return _("Nothing more is embedded by it; its vectors stay.")
        if action == "drop":
            embedding_models.start_dropping(model)
            return _("The worker removes it with its vectors.")
        if action == "check":
            problem = embedding_models.check_model(model)
            if problem:
                raise Conflict(problem)
            return _("It answers as it should.")
        raise PermissionDenied

    @binds_itself
    def compare_view(self, request: HttpRequest, model_id: int) -> HttpResponse:
        """What the model in use and this one find for the same questions, side by side."""
        model = self._model(request, model_id)
        form = ComparisonForm(request.POST or None)
        if not form.is_valid() or not isinstance(request.user, User):
            return self._page(request, model, comparison=form)
        space: Space = form.cleaned_data["space"]
        try:
            access = staff_access(request.user, [space])
            compared = compare_models(access, form.cleaned_data["questions"], model, container_tag=space.key)
        except AppError as error:
            self.message_user(request, error.message, messages.ERROR)
            return self._page(request, model, comparison=form)
        return self._page(request, model, comparison=form, compared=compared)

    def _model(self, request: HttpRequest, model_id: int) -> EmbeddingModel:
        _require_superuser(request)
        model = EmbeddingModel.objects.filter(id=model_id).first()
        if model is None:
            raise PermissionDenied
        return model

    def _tell(self, request: HttpRequest, model: EmbeddingModel, said: Any) -> None:
        self.log_change(request, model, str(said))
        self.message_user(request, format_lazy("{}: {}", model.slug, said), messages.SUCCESS)


def _require_superuser(request: HttpRequest) -> None:
    if managed_space_ids(request.user) is not None:
        raise PermissionDenied


def _to_page(model: EmbeddingModel) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse(f"admin:{_NAME}_change", args=[model.id]))
