"""The Celery application: `celery -A memory_site worker` and `celery -A memory_site beat`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

app = Celery("memory_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    # Work whose process died is taken up as soon as its lease is over, and what failed is tried again.
    "adopt what was left": {"task": "memories.tasks.adopt", "schedule": 10.0, "options": {"expires": 9}},
    "embed what is owed": {"task": "memories.tasks.sweep", "schedule": 60.0, "options": {"expires": 50}},
    "index words anew after an update": {
        "task": "memories.tasks.reindex_outdated_words",
        "schedule": 60.0,
        "options": {"expires": 50},
    },
    "build search indexes": {
        "task": "memories.tasks.maintain_search_indexes",
        "schedule": 300.0,
        "options": {"expires": 290},
    },
}
