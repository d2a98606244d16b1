"""Superusers list the documents of all spaces, last changed first."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("documents", "0004_surface_git")]
    operations = [
        AddIndexConcurrently("document", models.Index(fields=["-updated_at", "-id"], name="document_newest")),
    ]
