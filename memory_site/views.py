"""Pages of the site itself."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this server is, and how to connect to it."""
    return render(request, "home.html", {"mcp_address": request.build_absolute_uri("/mcp")})
