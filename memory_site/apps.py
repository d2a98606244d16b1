from django.apps import AppConfig

# Tasks find their broker through this application, in every process that loads Django.
from memory_site.celery import app as celery_app

__all__ = ["MemorySiteConfig", "celery_app"]


class MemorySiteConfig(AppConfig):
    name = "memory_site"
    verbose_name = "Memory"
