"""Edges are indexed in the order in which walks follow them: the newest of a memory first."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0003_posting_length")]
    operations = [
        AddIndexConcurrently(
            "edge",
            models.Index(fields=["space", "from_memory", "-created_at", "id", "relation_type"], name="edge_walk_out"),
        ),
        AddIndexConcurrently(
            "edge",
            models.Index(fields=["space", "to_memory", "-created_at", "id", "relation_type"], name="edge_walk_in"),
        ),
        RemoveIndexConcurrently("edge", "edge_by_from"),
        RemoveIndexConcurrently("edge", "edge_by_to"),
    ]
