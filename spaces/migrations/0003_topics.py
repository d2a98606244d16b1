"""Topics, in which notes stand, and how sensitive a space is."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from spaces.policies import isolate


class Migration(migrations.Migration):
    dependencies = [
        ("spaces", "0002_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="space",
            name="sensitivity",
            field=models.CharField(
                choices=[("low", "low"), ("medium", "medium"), ("high", "high")],
                default="medium",
                max_length=10,
                verbose_name="sensitivity",
            ),
        ),
        migrations.CreateModel(
            name="Topic",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.CharField(max_length=64, verbose_name="slug")),
                ("name", models.CharField(max_length=255, verbose_name="name")),
                ("path", models.CharField(db_collation="C", editable=False, max_length=1300, verbose_name="path")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="created"),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="children",
                        to="spaces.topic",
                        verbose_name="inside",
                    ),
                ),
                (
                    "space",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="topics",
                        to="spaces.space",
                        verbose_name="space",
                    ),
                ),
            ],
            options={
                "verbose_name": "topic",
                "verbose_name_plural": "topics",
                "ordering": ("path",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("space", "parent", "slug"), name="topic_once_in_its_place", nulls_distinct=False
                    ),
                    models.UniqueConstraint(fields=("space", "path"), name="topic_once_per_path"),
                ],
            },
        ),
        isolate("spaces_topic"),
    ]
