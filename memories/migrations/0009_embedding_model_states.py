"""Several embedding models side by side: each has a state, and one at most is searched by.

The models that embedded something before are retired; the one that the settings name is searched by from its first use.
"""

import django.utils.timezone
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models

STATES = [
    ("added", "added, nothing embedded yet"),
    ("backfilling", "embedding what is there"),
    ("ready", "complete and kept so"),
    ("searched", "searched by"),
    ("retired", "kept, but new memories are not embedded"),
    ("dropping", "being removed"),
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0008_resolutions")]
    operations = [
        migrations.AlterModelOptions(
            "embeddingmodel",
            {"ordering": ("id",), "verbose_name": "embedding model", "verbose_name_plural": "embedding models"},
        ),
        migrations.AddField(
            "embeddingmodel",
            "state",
            models.CharField(choices=STATES, default="retired", max_length=12, verbose_name="state"),
        ),
        migrations.AddField(
            "embeddingmodel",
            "replaced_at",
            models.DateTimeField(blank=True, editable=False, null=True, verbose_name="replaced"),
        ),
        migrations.AddField(
            "embeddingmodel", "problem", models.CharField(blank=True, max_length=500, verbose_name="problem")
        ),
        migrations.AddField(
            "embeddingmodel",
            "per_minute",
            models.PositiveIntegerField(default=0, verbose_name="memories a minute"),
        ),
        migrations.AddField(
            "embeddingmodel",
            "next_batch_at",
            models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.AddField("embeddingmodel", "speed", models.FloatField(blank=True, editable=False, null=True)),
        migrations.AddConstraint(
            "embeddingmodel",
            models.UniqueConstraint(
                "state", condition=models.Q(("state", "searched")), name="embedding_model_searched_once"
            ),
        ),
        migrations.AddConstraint(
            "embeddingmodel",
            models.CheckConstraint(
                condition=models.Q(("state__in", [state for state, _ in STATES])), name="embedding_model_state_is_known"
            ),
        ),
        AddIndexConcurrently(
            "pendingembedding",
            models.Index(fields=["model", "next_attempt_at"], name="pending_embedding_by_model"),
        ),
        RemoveIndexConcurrently("pendingembedding", "pending_embedding_by_time"),
    ]
