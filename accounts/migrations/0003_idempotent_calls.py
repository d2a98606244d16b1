"""Answers of writes that may be repeated."""

import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_api_key_newest"),
    ]

    operations = [
        migrations.CreateModel(
            name="IdempotentCall",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("caller", models.UUIDField()),
                ("operation", models.CharField(max_length=100)),
                ("key", models.CharField(max_length=200)),
                ("fingerprint", models.BinaryField(max_length=32)),
                ("answer", models.JSONField(null=True)),
                ("locked_until", models.DateTimeField()),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                "verbose_name": "repeatable call",
                "verbose_name_plural": "repeatable calls",
                "constraints": [
                    models.UniqueConstraint(fields=("caller", "operation", "key"), name="idempotent_call_once_per_key")
                ],
            },
        ),
    ]
