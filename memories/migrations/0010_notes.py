"""Notes: memories with a title in a topic; their tags, sources and versions; the relations that link them."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from spaces.policies import isolate

TABLES = ("memories_memorytag", "memories_sourceref", "memories_version")


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("documents", "0002_isolation"),
        ("memories", "0009_embedding_model_states"),
        ("spaces", "0003_topics"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="MemoryTag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64, verbose_name="tag")),
                ("position", models.SmallIntegerField(default=0)),
            ],
            options={
                "verbose_name": "tag",
                "verbose_name_plural": "tags",
                "ordering": ("position", "name"),
            },
        ),
        migrations.CreateModel(
            name="SourceRef",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("type", models.CharField(max_length=32, verbose_name="type")),
                ("ref", models.CharField(max_length=512, verbose_name="reference")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="registered"),
                ),
            ],
            options={
                "verbose_name": "source",
                "verbose_name_plural": "sources",
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("number", models.PositiveIntegerField(verbose_name="version")),
                ("title", models.CharField(max_length=255, null=True, verbose_name="title")),
                ("text", models.TextField(null=True, verbose_name="text")),
                ("path", models.CharField(blank=True, db_collation="C", max_length=2000, verbose_name="path")),
                ("commit", models.CharField(blank=True, max_length=40, verbose_name="commit")),
                ("created_via", models.CharField(max_length=20, verbose_name="via")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="at")),
            ],
            options={
                "verbose_name": "version",
                "verbose_name_plural": "versions",
                "ordering": ("-number",),
            },
        ),
        migrations.RemoveConstraint(
            model_name="edge",
            name="edge_relation_is_known",
        ),
        migrations.RemoveConstraint(
            model_name="memory",
            name="memory_active_text_once_per_space",
        ),
        migrations.AddField(
            model_name="memory",
            name="follow_up_status",
            field=models.CharField(
                blank=True,
                choices=[("open", "open"), ("waiting", "waiting")],
                max_length=10,
                null=True,
                verbose_name="follow-up",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="slug",
            field=models.CharField(blank=True, max_length=128, null=True, verbose_name="slug"),
        ),
        migrations.AddField(
            model_name="memory",
            name="status",
            field=models.CharField(
                choices=[("current", "current"), ("outdated", "outdated")],
                default="current",
                max_length=10,
                verbose_name="status",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="title",
            field=models.CharField(blank=True, max_length=255, null=True, verbose_name="title"),
        ),
        migrations.AddField(
            model_name="memory",
            name="topic",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="notes",
                to="spaces.topic",
                verbose_name="topic",
            ),
        ),
        migrations.AlterField(
            model_name="edge",
            name="relation_type",
            field=models.SmallIntegerField(
                choices=[
                    (0, "Updates"),
                    (1, "Extends"),
                    (2, "Derives"),
                    (3, "is related to"),
                    (4, "is the same as"),
                    (5, "follows up"),
                    (6, "mentions"),
                    (7, "causes"),
                    (8, "fixes"),
                    (9, "contradicts"),
                ],
                verbose_name="relation",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("is_active", True), ("slug__isnull", False)),
                fields=["space", "-updated_at", "-id"],
                name="note_by_update",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("follow_up_status__isnull", False), ("is_active", True)),
                fields=["space", "-updated_at", "-id"],
                name="note_to_follow_up",
            ),
        ),
        migrations.AddConstraint(
            model_name="edge",
            constraint=models.CheckConstraint(
                condition=models.Q(("relation_type__in", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])), name="edge_relation_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(
                models.F("space"),
                models.F("content_hash"),
                condition=models.Q(("is_active", True), ("slug__isnull", True)),
                name="memory_active_text_once_per_space",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_active", True), ("slug__isnull", False)),
                fields=("space", "topic", "slug"),
                name="note_once_per_topic_and_slug",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("slug__isnull", True), ("title__isnull", True), ("topic__isnull", True)),
                    models.Q(("slug__isnull", False), ("title__isnull", False), ("topic__isnull", False)),
                    _connector="OR",
                ),
                name="memory_note_has_title_and_topic",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["current", "outdated"])), name="memory_status_is_known"
            ),
        ),
        migrations.AddField(
            model_name="memorytag",
            name="memory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tags",
                to="memories.memory",
                verbose_name="memory",
            ),
        ),
        migrations.AddField(
            model_name="memorytag",
            name="space",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="spaces.space", verbose_name="space"
            ),
        ),
        migrations.AddField(
            model_name="sourceref",
            name="memory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sources",
                to="memories.memory",
                verbose_name="memory",
            ),
        ),
        migrations.AddField(
            model_name="sourceref",
            name="space",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="spaces.space", verbose_name="space"
            ),
        ),
        migrations.AddField(
            model_name="version",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="by",
            ),
        ),
        migrations.AddField(
            model_name="version",
            name="created_by_key",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="accounts.apikey",
                verbose_name="with key",
            ),
        ),
        migrations.AddField(
            model_name="version",
            name="memory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="versions",
                to="memories.memory",
                verbose_name="memory",
            ),
        ),
        migrations.AddField(
            model_name="version",
            name="space",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="spaces.space", verbose_name="space"
            ),
        ),
        migrations.AddConstraint(
            model_name="memorytag",
            constraint=models.UniqueConstraint(fields=("space", "name", "memory"), name="memory_tag_once"),
        ),
        migrations.AddConstraint(
            model_name="sourceref",
            constraint=models.UniqueConstraint(fields=("space", "type", "ref"), name="source_once_per_space"),
        ),
        migrations.AddConstraint(
            model_name="version",
            constraint=models.UniqueConstraint(fields=("space", "memory", "number"), name="version_once_per_memory"),
        ),
        *[isolate(table) for table in TABLES],
    ]
