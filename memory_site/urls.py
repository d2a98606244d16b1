"""All addresses beside `/mcp` and `/livez`, which `memory_site.asgi` serves itself."""

from django.contrib import admin
from django.urls import path

from memory_site import health
from memory_site.api import api
from memory_site.views import home

urlpatterns = [
    path("", home, name="home"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("health", health.health, name="health"),
    path("readyz", health.readyz, name="readyz"),
]
