"""Documents that wait for processing, and how far each has come."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from spaces.policies import isolate


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0002_isolation"),
        ("spaces", "0002_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="extraction",
            field=models.CharField(
                blank=True,
                choices=[
                    ("Off", "Off"),
                    ("Pending", "Pending"),
                    ("Done", "Done"),
                    ("Nothing", "Nothing found"),
                    ("Failed", "Failed"),
                ],
                default="",
                editable=False,
                max_length=10,
                verbose_name="extraction",
            ),
        ),
        migrations.AddField(
            model_name="document",
            name="outcome",
            field=models.JSONField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="document",
            name="reason",
            field=models.CharField(blank=True, default="", editable=False, max_length=500, verbose_name="reason"),
        ),
        migrations.CreateModel(
            name="PendingDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("attempts", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("interruptions", models.PositiveIntegerField(db_default=0, default=0, verbose_name="interruptions")),
                (
                    "next_attempt_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="next attempt"),
                ),
                ("claimed_at", models.DateTimeField(null=True, verbose_name="running since")),
                ("failed_at", models.DateTimeField(null=True, verbose_name="failed")),
                ("reason", models.CharField(blank=True, max_length=500, verbose_name="reason")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="created"),
                ),
                ("category", models.CharField(blank=True, max_length=100, null=True, verbose_name="category")),
                ("source", models.CharField(blank=True, max_length=500, null=True, verbose_name="source")),
                (
                    "document",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pending",
                        to="documents.document",
                        verbose_name="document",
                    ),
                ),
                (
                    "space",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="spaces.space",
                        verbose_name="space",
                    ),
                ),
            ],
            options={
                "verbose_name": "pending document",
                "verbose_name_plural": "pending documents",
                "indexes": [
                    models.Index(
                        condition=models.Q(("failed_at__isnull", True)),
                        fields=["space", "next_attempt_at", "id"],
                        name="pending_document_by_turn",
                    )
                ],
            },
        ),
        isolate("documents_pendingdocument"),
    ]
