"""What holds for every request of the REST API: size and rate before anything else, problems for every error, a line in
the log."""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.keys import presented_key
from accounts.rate_limit import client_address, note_failure, seconds_to_wait
from memory_site.problems import CONTENT_TYPE, problem, too_large_problem
from memory_site.refusals import API_PREFIX
from memory_site.request_log import log_request
from spaces.access import AccessContext

# The description is for people who have no key yet.
_OPEN = ("/api/v1/docs", "/api/v1/openapi.json")
_DETAILS = {
    400: "The request could not be understood.",
    403: "This request is not allowed.",
    404: "There is nothing at this address; /api/v1/docs lists what there is.",
    405: "This address does not take that method; Allow names those it does.",
}


class ApiMiddleware:
    """Bounds and error form of `/api/`; other paths pass untouched."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not f"{request.path}/".startswith(API_PREFIX):
            return self.get_response(request)
        began_at = time.perf_counter()
        method = request.method or ""
        if method == "HEAD":
            # What GET would answer; the server sends no body for it.
            request.method = "GET"
        response = self._served(request)
        request.method = method
        access = getattr(request, "auth", None)
        log_request(
            method,
            request.path,
            response.status_code,
            time.perf_counter() - began_at,
            access if isinstance(access, AccessContext) else None,
        )
        return response

    def _served(self, request: HttpRequest) -> HttpResponse:
        length = request.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > settings.MAXIMUM_BODY_BYTES:
            return too_large_problem(request)
        key, peer = None, ""
        if request.path not in _OPEN:
            key = presented_key(request.headers.get("X-Api-Key"), request.headers.get("Authorization"))
            peer = client_address(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))
            wait = seconds_to_wait(key or peer, peer)
            if wait is not None:
                detail = f"Too many requests; try again in {wait} seconds."
                return problem(request, 429, detail, headers={"Retry-After": str(wait)})
        response = self._as_problem(request, self.get_response(request))
        if response.status_code == 401 and key:
            note_failure(peer)
        if request.path not in _OPEN:
            # Answers belong to a key, which shared caches do not look at.
            response["Cache-Control"] = "no-store"
        return response

    @staticmethod
    def _as_problem(request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if response.status_code >= 400 and not response.headers.get("Content-Type", "").startswith(CONTENT_TYPE):
            kept = {name: response.headers[name] for name in ("Allow", "Retry-After") if name in response.headers}
            detail = _DETAILS.get(response.status_code, "The request could not be served.")
            return problem(request, response.status_code, detail, headers=kept)
        return response
