"""Postings carry the length of their memory, and the key covers both numbers: words are scored from the index alone."""

from django.db import migrations, models

FORWARD = """
ALTER TABLE memories_memoryterm ADD COLUMN length smallint NOT NULL DEFAULT 0;
UPDATE memories_memoryterm t SET length = least(m.term_total, 32767)
FROM memories_memory m WHERE m.id = t.memory_id;
ALTER TABLE memories_memoryterm ALTER COLUMN length DROP DEFAULT;
ALTER TABLE memories_memoryterm DROP CONSTRAINT memories_memoryterm_pkey;
ALTER TABLE memories_memoryterm ADD PRIMARY KEY (space_id, term, memory_id) INCLUDE (frequency, length);
"""

BACKWARD = """
ALTER TABLE memories_memoryterm DROP CONSTRAINT memories_memoryterm_pkey;
ALTER TABLE memories_memoryterm ADD PRIMARY KEY (space_id, term, memory_id);
ALTER TABLE memories_memoryterm DROP COLUMN length;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0002_search_tables")]
    operations = [
        migrations.RunSQL(
            FORWARD,
            BACKWARD,
            state_operations=[migrations.AddField("memoryterm", "length", models.SmallIntegerField())],
        ),
    ]
