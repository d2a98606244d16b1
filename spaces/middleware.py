"""What the admin's pages reach in the database: the spaces that whoever is signed in administers."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve, reverse

from spaces.isolation import bound, every_space
from spaces.staff import managed_space_ids

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])
_BINDS_ITSELF = "binds_itself"


def binds_itself(view: _Decorated) -> _Decorated:
    """For a view of the admin that asks providers: it gets no transaction around it, and what it calls binds."""
    setattr(view, _BINDS_ITSELF, True)
    return view


class AdminIsolation:
    """Each request of the admin is one transaction, bound to the managed spaces; a superuser's to all of them.

    Views marked with `binds_itself` are left alone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(reverse("admin:index")) or _is_left_alone(request):
            return self.get_response(request)
        managed = managed_space_ids(request.user)
        with every_space() if managed is None else bound(managed):
            response = self.get_response(request)
            if response.status_code >= 500:
                transaction.set_rollback(True)
        return response


def _is_left_alone(request: HttpRequest) -> bool:
    try:
        return bool(getattr(resolve(request.path_info).func, _BINDS_ITSELF, False))
    except Resolver404:
        return False
