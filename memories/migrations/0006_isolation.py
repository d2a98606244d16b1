"""Memories, and everything made from them, are shown to transactions that have bound their space, and to no others."""

from django.db import migrations

from spaces.policies import isolate

TABLES = (
    "memories_memory",
    "memories_edge",
    "memories_embedding",
    "memories_embeddingindex",
    "memories_memoryterm",
    "memories_pendingembedding",
    "memories_spacestatistics",
    "memories_vocabularyterm",
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0005_deactivation")]
    operations = [isolate(table) for table in TABLES]
