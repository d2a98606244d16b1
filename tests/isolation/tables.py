"""The tables that belong to spaces, by the database itself."""

import uuid

from django.db import connection

from spaces.policies import NOT_ISOLATED


def space_owned_tables() -> list[str]:
    """Every table of ours with a `space_id`, by the database itself; partitions are part of their parents."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
            " AND a.attname = 'space_id' AND NOT a.attisdropped ORDER BY 1"
        )
        return [name for (name,) in cursor.fetchall()]


def isolated_tables() -> list[str]:
    return [table for table in space_owned_tables() if table not in NOT_ISOLATED]


def contents(space_id: uuid.UUID) -> dict[str, tuple[int, str | None]]:
    """The number of rows of a space in each table, and a digest of all they say."""
    found = {}
    with connection.cursor() as cursor:
        for table in space_owned_tables():
            cursor.execute(
                f"SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t WHERE space_id = %s",
                [space_id],
            )
            found[table] = cursor.fetchall()[0]
    return found
