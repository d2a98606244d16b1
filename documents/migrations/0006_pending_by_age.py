"""The list of what waits comes in an order that an index has."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("documents", "0005_newest")]
    operations = [
        migrations.AddIndex(
            "pendingdocument", models.Index(fields=["created_at", "id"], name="pending_document_by_age")
        ),
    ]
