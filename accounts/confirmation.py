"""A page between an admin action and its effect, for what is not easily undone."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin import ModelAdmin, helpers
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django_stubs_ext import StrOrPromise

_FIELD = "confirmed"


def is_confirmed(request: HttpRequest) -> bool:
    """Whether the request comes from the confirmation page's own button."""
    return request.method == "POST" and request.POST.get(_FIELD) == "yes"


def confirmation_page(
    owner: ModelAdmin[Any],
    request: HttpRequest,
    rows: QuerySet[Any],
    *,
    action: str,
    title: StrOrPromise,
    consequence: StrOrPromise,
    named: Callable[[Any], str] = str,
) -> TemplateResponse:
    """The page that names `rows` and what will happen to them; its button runs the list's `action` on them.

    `named` tells a row in words.
    """
    context = {
        **owner.admin_site.each_context(request),
        "title": title,
        "consequence": consequence,
        "rows": [(row.pk, named(row)) for row in rows],
        "action": action,
        "opts": owner.opts,
        "list_url_name": f"admin:{owner.opts.app_label}_{owner.opts.model_name}_changelist",
        "action_checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "confirmed_name": _FIELD,
    }
    return TemplateResponse(request, "admin/confirm_action.html", context)
