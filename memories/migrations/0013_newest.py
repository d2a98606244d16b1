"""Superusers list the memories and edges of all spaces, newest first."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0012_surface_git")]
    operations = [
        AddIndexConcurrently("memory", models.Index(fields=["-created_at", "-id"], name="memory_newest")),
        AddIndexConcurrently("edge", models.Index(fields=["-created_at", "-id"], name="edge_newest")),
    ]
