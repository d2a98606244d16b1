"""Edges that update are read by age, to list those that are contested."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0006_isolation")]
    operations = [
        AddIndexConcurrently(
            "edge",
            models.Index(
                fields=["space", "-created_at", "-id"], condition=Q(relation_type=0), name="edge_updates_by_age"
            ),
        ),
    ]
