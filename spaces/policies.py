"""Row-level security of space-owned tables: the policies, for migrations, and the rights of the application's role.

Every migration that makes a table with a `space_id` isolates it:

    operations = [..., isolate("documents_document")]
"""

from django.conf import settings
from django.db import connection
from django.db.migrations.operations import RunSQL

from spaces.isolation import EVERY_SPACE, SPACES

# Tables that hold access itself: bindings are made from them, so they cannot wait for one.
NOT_ISOLATED = frozenset({"spaces_spacegrant"})

# Sub-selects, which are computed once a query and not once a row. Nothing bound gives NULL, and so no row.
_BOUND = f"""
(SELECT current_setting('{EVERY_SPACE}', true) = 'on')
OR {{column}} = ANY ((SELECT nullif(current_setting('{SPACES}', true), '')::uuid[])::uuid[])
"""

_POLICY = "space_isolation"

_GRANTS = """
DO $$
DECLARE
    app name := %(role)s;
    found record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = app) THEN
        BEGIN
            EXECUTE format('CREATE ROLE %%I NOSUPERUSER NOBYPASSRLS', app);
            EXECUTE format('GRANT %%I TO %%I', app, session_user);
        EXCEPTION WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN
            NULL;  -- not allowed to, or another database of this server is migrated right now
        END;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = app) THEN
        RETURN;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA public TO %%I', app);
    FOR found IN
        SELECT oid::regclass AS name, relkind, relispartition, relname
        FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')
            AND pg_has_role(relowner, 'USAGE')
    LOOP
        IF found.relkind = 'S' THEN
            EXECUTE format('GRANT USAGE, SELECT ON SEQUENCE %%s TO %%I', found.name, app);
        ELSIF found.relname = 'django_migrations' THEN
            EXECUTE format('GRANT SELECT ON %%s TO %%I', found.name, app);
        ELSIF NOT found.relispartition THEN
            -- Partitions are reached through their parent, whose policies hold; by themselves they have none.
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %%s TO %%I', found.name, app);
        END IF;
    END LOOP;
END $$
"""


def isolate(table: str, column: str = "space_id") -> RunSQL:
    """A migration operation: from now on a transaction meets only those rows of `table` whose space it has bound."""
    condition = _BOUND.format(column=column)
    return RunSQL(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
        f" CREATE POLICY {_POLICY} ON {table} USING ({condition}) WITH CHECK ({condition})",
        f"DROP POLICY {_POLICY} ON {table}; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
    )


def grant_rights(**kwargs: object) -> None:
    """After a migration: make the application's role where this is allowed, and give it the rows, but no table."""
    with connection.cursor() as cursor:
        cursor.execute(_GRANTS, {"role": settings.DATABASE_ROLE})
