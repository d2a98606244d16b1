"""The Celery application: `celery -A memory_site worker` and `celery -A memory_site beat`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

app = Celery("memory_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
