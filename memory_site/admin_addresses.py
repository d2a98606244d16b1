"""What stands in the address of an admin page comes from people: a value that no row can have is no error of ours.

Django refuses most of it by beginning the list anew with `?e=1`. Years beyond the calendar and the character NUL it
only meets in the database or while the page is drawn; those end here, for every list there is.
"""

import logging
from collections.abc import Callable

from django.core.exceptions import PermissionDenied, SuspiciousOperation, ValidationError
from django.db import DataError, InterfaceError, OperationalError, connection, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.views.defaults import page_not_found

from core.errors import AppError

logger = logging.getLogger(__name__)

# Django's own sign that a list was begun anew.
_BEGUN_ANEW = "e"
# Order, page and search of a list: what is wrong with these is Django's or ours, as it is without any parameter.
_OWN = {_BEGUN_ANEW, "o", "p", "q", "all", "_facets", "_popup", "_to_field"}
# Answered elsewhere, or nothing that another value would mend.
_NOT_OF_THE_ADDRESS = (AppError, Http404, PermissionDenied, SuspiciousOperation, OperationalError, InterfaceError)
# An id that no row of its kind can have.
_OF_NO_ROW = (ValueError, OverflowError, DataError, ValidationError)


class AdminAddressMiddleware:
    """Begins a list anew, and completes a field with nothing, when the address asked for what cannot be."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Called for errors of the view and of drawing its page; None lets an error of ours be one."""
        match = request.resolver_match
        if match is None or match.app_name != "admin" or isinstance(error, _NOT_OF_THE_ADDRESS):
            return None
        if match.url_name == "view_on_site" and isinstance(error, _OF_NO_ROW):
            self._give_up_transaction()
            return page_not_found(request, error)
        if not set(request.GET) - _OWN:
            return None
        self._give_up_transaction()
        name = match.url_name or ""
        if name == "autocomplete":
            logger.warning("a field cannot be completed", exc_info=error)
            return JsonResponse({"results": [], "pagination": {"more": False}})
        if name.endswith("_changelist"):
            logger.warning("the list %s was begun anew", name, exc_info=error)
            return HttpResponseRedirect(f"{request.path}?{_BEGUN_ANEW}=1")
        return None

    @staticmethod
    def _give_up_transaction() -> None:
        """The database may have refused the statement, and then takes no other one in this transaction."""
        if connection.in_atomic_block:
            transaction.set_rollback(True)
