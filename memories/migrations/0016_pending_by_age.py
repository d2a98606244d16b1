"""The list of what waits comes in an order that an index has."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0015_words_version")]
    operations = [
        migrations.AddIndex(
            "pendingembedding", models.Index(fields=["created_at", "id"], name="pending_embedding_by_age")
        ),
    ]
