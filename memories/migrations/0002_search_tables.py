"""The narrow tables of search, which Django cannot declare: partitions, and keys led by the space.

Foreign keys are `ON DELETE CASCADE` in the database, since Django does not manage these tables.
"""

from django.db import migrations

PARTITIONS = 16


def _partitions(table: str) -> str:
    return "\n".join(
        f"CREATE TABLE {table}_{number:02} PARTITION OF {table} FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number});"
        for number in range(PARTITIONS)
    )


EMBEDDING = f"""
CREATE TABLE memories_embedding (
    space_id uuid NOT NULL REFERENCES spaces_space ON DELETE CASCADE,
    model_id smallint NOT NULL REFERENCES memories_embeddingmodel ON DELETE CASCADE,
    memory_id uuid NOT NULL REFERENCES memories_memory ON DELETE CASCADE,
    chunk smallint NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (space_id, model_id, memory_id, chunk)
) PARTITION BY HASH (space_id);
{_partitions("memories_embedding")}
CREATE INDEX memories_embedding_memory ON memories_embedding (memory_id);
"""

TERM = f"""
CREATE TABLE memories_memoryterm (
    space_id uuid NOT NULL REFERENCES spaces_space ON DELETE CASCADE,
    term text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL REFERENCES memories_memory ON DELETE CASCADE,
    frequency smallint NOT NULL,
    PRIMARY KEY (space_id, term, memory_id)
) PARTITION BY HASH (space_id);
{_partitions("memories_memoryterm")}
CREATE INDEX memories_memoryterm_memory ON memories_memoryterm (memory_id);
"""

# Counters change with every save: room in the page keeps the update within it, and no index holds the counter.
VOCABULARY = """
CREATE TABLE memories_vocabularyterm (
    space_id uuid NOT NULL REFERENCES spaces_space ON DELETE CASCADE,
    term text COLLATE "C" NOT NULL,
    memory_count integer NOT NULL,
    PRIMARY KEY (space_id, term)
) WITH (fillfactor = 80);
CREATE INDEX memories_vocabulary_trigrams ON memories_vocabularyterm USING gin (space_id, term gin_trgm_ops);
ALTER TABLE memories_spacestatistics SET (fillfactor = 50);
ALTER TABLE memories_memory SET (fillfactor = 90);
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]
    operations = [
        migrations.RunSQL(EMBEDDING, "DROP TABLE memories_embedding"),
        migrations.RunSQL(TERM, "DROP TABLE memories_memoryterm"),
        migrations.RunSQL(VOCABULARY, "DROP TABLE memories_vocabularyterm"),
    ]
