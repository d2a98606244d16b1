"""What was forgotten before attribution was kept is attributed to its last changer."""

import pytest
from django.core.management import call_command
from django.db import connection

from memories.models import Memory
from memories.tests.factories import make_person, make_space


@pytest.mark.django_db(transaction=True)
def test_older_forgotten_memories_name_their_last_changer():
    space, author, colleague = make_space(), make_person("Ada"), make_person("Bob")
    call_command("migrate", "memories", "0003", verbosity=0)
    try:
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO memories_memory (id, space_id, text, version, is_active, content_hash, term_total,"
                " created_via, created_at, updated_at, created_by_id, updated_by_id)"
                " VALUES (gen_random_uuid(), %s, %s, 1, %s, %s, 0, 'mcp', '2026-01-01', '2026-02-02', %s, %s)",
                [
                    (space.id, "Active.", True, b"1", author.id, author.id),
                    (space.id, "Forgotten.", False, b"2", author.id, colleague.id),
                ],
            )
    finally:
        call_command("migrate", "memories", verbosity=0)
    active, forgotten = Memory.objects.order_by("text")
    assert (active.deactivated_by, active.deactivated_at) == (None, None)
    assert (forgotten.deactivated_by, forgotten.deactivated_at) == (colleague, forgotten.updated_at)
