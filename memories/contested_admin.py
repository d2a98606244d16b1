"""Contested pairs in the admin: each with both its sides, to decide with a reason; and the decisions, to take back."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from core.text import excerpt
from memories.models import MAXIMUM_REASON, ContestedPair, Decision, Memory, Resolution
from memories.services.contested import reopen_contested, resolve_contested
from spaces.access import AccessContext
from spaces.staff import SpaceOwnedAdmin


class ReasonForm(ActionForm):
    """The bar of actions with a field for why."""

    reason = forms.CharField(label=_("Reason"), max_length=MAXIMUM_REASON, required=False)


def _told(memory: Memory) -> str:
    author = memory.created_by.display_name if memory.created_by else "–"
    return f"{excerpt(memory.text, 100)} ({author})"


@admin.register(ContestedPair)
class ContestedPairAdmin(SpaceOwnedAdmin):
    list_display = ("updating", "contested", "note", "space", "created_at")
    list_filter = (("space", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("space", "from_memory__created_by", "to_memory__created_by")
    search_fields = ("note",)
    search_help_text = _("An id of the pair or of one of its memories, or part of the note.")
    searched_without_space = 10_000
    id_paths = ("id", "from_memory_id", "to_memory_id")
    ordering = ("-created_at", "-id")
    fields = ("space", "updating", "from_memory", "contested", "to_memory", "note", "created_by", "created_at")
    readonly_fields = ("updating", "contested")
    action_form = ReasonForm
    actions = ("keep_both", "supersede", "forget_updating", "forget_contested")

    @admin.display(description=_("says to update"))
    def updating(self, pair: ContestedPair) -> str:
        return _told(pair.from_memory)

    @admin.display(description=_("contested"))
    def contested(self, pair: ContestedPair) -> str:
        return _told(pair.to_memory)

    @admin.action(description=_("Keep both"))
    def keep_both(self, request: HttpRequest, pairs: QuerySet[ContestedPair]) -> None:
        self._decide(request, pairs, Decision.KEEP_BOTH)

    @admin.action(description=_("Supersede the contested one"))
    def supersede(self, request: HttpRequest, pairs: QuerySet[ContestedPair]) -> None:
        self._decide(request, pairs, Decision.SUPERSEDE)

    @admin.action(description=_("Forget the one that says to update"))
    def forget_updating(self, request: HttpRequest, pairs: QuerySet[ContestedPair]) -> None:
        self._decide(request, pairs, Decision.FORGET, "from_memory_id")

    @admin.action(description=_("Forget the contested one"))
    def forget_contested(self, request: HttpRequest, pairs: QuerySet[ContestedPair]) -> None:
        self._decide(request, pairs, Decision.FORGET, "to_memory_id")

    def _decide(
        self, request: HttpRequest, pairs: QuerySet[ContestedPair], decision: Decision, forgotten: str | None = None
    ) -> None:
        reason = request.POST.get("reason", "")

        def act(access: AccessContext, pair: ContestedPair) -> bool:
            memory_id = getattr(pair, forgotten) if forgotten else None
            resolve_contested(access, pair.id, decision=decision, reason=reason, memory_id=memory_id)
            return True

        number = self.act_on(request, pairs, act)
        said = ngettext("%(n)d pair was decided.", "%(n)d pairs were decided.", number) % {"n": number}
        self.message_user(request, said)


@admin.register(Resolution)
class ResolutionAdmin(SpaceOwnedAdmin):
    list_display = ("decision", "reason", "resolved_by", "resolved_at", "space", "withdrawn_by", "withdrawn_at")
    list_filter = ("decision", ("space", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("space", "resolved_by", "withdrawn_by")
    search_fields = ("reason",)
    search_help_text = _("An id of the pair or of the memory taken out, or part of the reason.")
    searched_without_space = 10_000
    id_paths = ("id", "edge_id", "memory_id")
    ordering = ("-resolved_at", "-id")
    fields = (
        "space", "edge", "decision", "memory", "reason", "resolved_by", "resolved_by_key", "resolved_via",
        "resolved_at", "withdrawn_by", "withdrawn_at", "withdrawn_reason",
    )  # fmt: skip
    action_form = ReasonForm
    actions = ("reopen",)

    @admin.action(description=_("Take back: the pair is contested again"))
    def reopen(self, request: HttpRequest, resolutions: QuerySet[Resolution]) -> None:
        reason = request.POST.get("reason")

        def act(access: AccessContext, resolution: Resolution) -> Any:
            return reopen_contested(access, resolution.edge_id, reason=reason) is not None

        number = self.act_on(request, resolutions, act)
        said = ngettext("%(n)d decision was taken back.", "%(n)d decisions were taken back.", number) % {"n": number}
        self.message_user(request, said)
