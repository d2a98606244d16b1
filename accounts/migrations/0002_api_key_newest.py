"""Keys are listed newest first."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("accounts", "0001_initial")]
    operations = [
        AddIndexConcurrently("apikey", models.Index(fields=["-created_at", "id"], name="api_key_newest")),
    ]
