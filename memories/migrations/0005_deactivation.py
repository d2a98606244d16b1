"""Who took a memory out of search, when and why. Until now the last changer of an inactive memory was that person."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q


def attribute(apps, schema_editor):
    inactive = apps.get_model("memories", "Memory").objects.filter(is_active=False)
    inactive.update(deactivated_by=F("updated_by"), deactivated_at=F("updated_at"))


class Migration(migrations.Migration):
    dependencies = [("memories", "0004_edge_walks"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        migrations.AddField(
            "memory",
            "deactivated_by",
            models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="forgotten by",
            ),
        ),
        migrations.AddField(
            "memory",
            "deactivated_at",
            models.DateTimeField(editable=False, null=True, verbose_name="forgotten"),
        ),
        migrations.AddField(
            "memory",
            "deactivation_reason",
            models.CharField(blank=True, default="", editable=False, max_length=500, verbose_name="reason"),
            preserve_default=False,
        ),
        migrations.RunPython(attribute, migrations.RunPython.noop),
        migrations.AddConstraint(
            "memory",
            models.CheckConstraint(
                condition=Q(is_active=False) | Q(deactivated_at__isnull=True, superseded_by__isnull=True),
                name="memory_active_is_not_deactivated",
            ),
        ),
    ]
