"""What the admin's pages reach in the database: the spaces that whoever is signed in administers."""

from collections.abc import Callable

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from spaces.isolation import bound, every_space
from spaces.staff import managed_space_ids


class AdminIsolation:
    """Each request of the admin is one transaction, bound to the managed spaces; a superuser's to all of them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(reverse("admin:index")):
            return self.get_response(request)
        managed = managed_space_ids(request.user)
        with every_space() if managed is None else bound(managed):
            response = self.get_response(request)
            if response.status_code >= 500:
                transaction.set_rollback(True)
        return response
