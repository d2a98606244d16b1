"""Decisions about contested pairs."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from spaces.policies import isolate


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("memories", "0007_edge_updates_by_age"),
        ("spaces", "0002_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ContestedPair",
            fields=[],
            options={
                "verbose_name": "contested pair",
                "verbose_name_plural": "contested pairs",
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("memories.edge",),
        ),
        migrations.CreateModel(
            name="Resolution",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "decision",
                    models.CharField(
                        choices=[
                            ("keep_both", "Keep both"),
                            ("supersede", "Supersede the older one"),
                            ("forget", "Forget one"),
                        ],
                        max_length=20,
                        verbose_name="decision",
                    ),
                ),
                ("reason", models.CharField(max_length=500, verbose_name="reason")),
                (
                    "resolved_via",
                    models.CharField(
                        choices=[
                            ("mcp", "MCP"),
                            ("rest", "REST"),
                            ("web", "Web"),
                            ("admin", "Admin"),
                            ("command", "Command"),
                        ],
                        editable=False,
                        max_length=20,
                        verbose_name="decided via",
                    ),
                ),
                (
                    "resolved_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="decided"),
                ),
                ("withdrawn_at", models.DateTimeField(editable=False, null=True, verbose_name="taken back")),
                (
                    "withdrawn_reason",
                    models.CharField(blank=True, max_length=500, verbose_name="why it was taken back"),
                ),
                (
                    "edge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="resolutions",
                        to="memories.edge",
                        verbose_name="edge",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="memories.memory",
                        verbose_name="memory taken out of search",
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="decided by",
                    ),
                ),
                (
                    "resolved_by_key",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.apikey",
                        verbose_name="decided with key",
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
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="taken back by",
                    ),
                ),
            ],
            options={
                "verbose_name": "resolution",
                "verbose_name_plural": "resolutions",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("withdrawn_at__isnull", True)),
                        fields=("space", "edge"),
                        name="resolution_one_stands_per_edge",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("decision__in", ["keep_both", "supersede", "forget"])),
                        name="resolution_decision_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decision", "keep_both"), ("memory__isnull", True)),
                            models.Q(models.Q(("decision", "keep_both"), _negated=True), ("memory__isnull", False)),
                            _connector="OR",
                        ),
                        name="resolution_takes_out_one_or_keeps_both",
                    ),
                ],
            },
        ),
        isolate("memories_resolution"),
    ]
