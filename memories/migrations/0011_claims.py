"""Owed embeddings are claimed space by space; one that ends its worker again and again is set aside."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0010_notes"),
        ("spaces", "0002_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="pendingembedding",
            name="claimed_at",
            field=models.DateTimeField(null=True, verbose_name="running since"),
        ),
        migrations.AddField(
            model_name="pendingembedding",
            name="failed_at",
            field=models.DateTimeField(null=True, verbose_name="failed"),
        ),
        migrations.AddField(
            model_name="pendingembedding",
            name="interruptions",
            field=models.PositiveIntegerField(db_default=0, default=0, verbose_name="interruptions"),
        ),
        migrations.AddIndex(
            model_name="pendingembedding",
            index=models.Index(
                condition=models.Q(("failed_at__isnull", True)),
                fields=["space", "model", "next_attempt_at", "id"],
                name="pending_embedding_by_turn",
            ),
        ),
    ]
