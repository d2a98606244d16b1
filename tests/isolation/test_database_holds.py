"""Without any filter of ours, the database shows and changes nothing but the bound spaces' rows."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.apps import apps
from django.db import ProgrammingError, connection, transaction

from core.database import as_owner
from documents.services.documents import create_document
from memories.models import Memory
from memories.tests.factories import link, make_access, remember
from spaces.isolation import bound, every_space
from spaces.policies import NOT_ISOLATED
from tests.isolation.tables import isolated_tables, space_owned_tables

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenants():
    """Two tenants with a row in each table that services fill."""
    found = []
    for _ in range(2):
        access = make_access()
        memory = remember(access, "The alarm code is 4711.", category="secret", source="chat")
        link(memory, remember(access, "The code was changed."))
        create_document(access, title="Manual", doc_type="text", content="How it works.")
        found.append(access)
    return found


@pytest.fixture
def application_role(tenants):
    """The rest of the test is as the site is: the role that owns nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('role', 'memory_app', true)")


def test_every_space_owned_table_is_isolated():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid"
            " WHERE c.relrowsecurity AND p.polcmd = '*' AND p.polqual IS NOT NULL AND p.polwithcheck IS NOT NULL"
        )
        isolated = {name for (name,) in cursor.fetchall()}
    missing = set(isolated_tables()) - isolated
    assert not missing, f"add isolate(table) of spaces/policies.py to the migrations that make {sorted(missing)}"
    assert len(isolated_tables()) >= 9
    assert set(space_owned_tables()) >= NOT_ISOLATED


def test_every_model_with_a_space_is_one_of_those_tables():
    owned = {
        model._meta.db_table
        for model in apps.get_models()
        if any(getattr(field, "column", None) == "space_id" for field in model._meta.get_fields())
    }
    assert owned == set(space_owned_tables())


@pytest.mark.usefixtures("application_role")
def test_unbound_nothing_is_there():
    for table in isolated_tables():
        assert count(table) == 0, table


@pytest.mark.usefixtures("application_role")
def test_bound_to_one_space_the_other_is_not_there(tenants):
    ours, theirs = (access.space(None) for access in tenants)
    with every_space():
        filled = [table for table in isolated_tables() if count(table, ours.id) and count(table, theirs.id)]
    assert len(filled) >= 6
    with bound(ours):
        for table in isolated_tables():
            assert count(table, theirs.id) == 0, table
        for table in filled:
            assert count(table) == count(table, ours.id) > 0, table


@pytest.mark.usefixtures("application_role")
def test_foreign_rows_are_neither_changed_nor_deleted_nor_made(tenants):
    ours, theirs = (access.space(None) for access in tenants)
    with every_space():
        before = {table: count(table, theirs.id) for table in isolated_tables()}
    with bound(ours), connection.cursor() as cursor:
        for table in isolated_tables():
            cursor.execute(f"UPDATE {table} SET space_id = space_id WHERE space_id = %s", [theirs.id])
            assert cursor.rowcount == 0, table
            cursor.execute(f"DELETE FROM {table} WHERE space_id = %s", [theirs.id])
            assert cursor.rowcount == 0, table
        memory = Memory.objects.first()
        assert memory is not None
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Memory.objects.create(space_id=theirs.id, text="Smuggled.", content_hash=b"x")
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            # Giving a row away is making one there.
            Memory.objects.filter(id=memory.id).update(space_id=theirs.id)
    with every_space():
        assert {table: count(table, theirs.id) for table in isolated_tables()} == before


@pytest.mark.usefixtures("application_role")
def test_a_binding_ends_with_its_block(tenants):
    ours, theirs = (access.space(None) for access in tenants)
    with every_space():
        with bound(ours):
            assert not Memory.objects.filter(space_id=theirs.id).exists()
        assert Memory.objects.filter(space_id=theirs.id).exists()
    assert not Memory.objects.exists()
    with pytest.raises(ZeroDivisionError), bound(ours):
        raise ZeroDivisionError
    assert not Memory.objects.exists()
    with bound(ours):
        with pytest.raises(ProgrammingError), bound(theirs), connection.cursor() as cursor:
            cursor.execute("SELECT nonsense")
        assert set(Memory.objects.values_list("space_id", flat=True)) == {ours.id}
    assert not Memory.objects.exists()


@pytest.mark.usefixtures("application_role")
def test_nothing_bound_is_nothing_and_not_everything(tenants):
    with bound([]):
        assert not Memory.objects.exists()
    with bound(space.id for access in tenants for space in access.spaces):
        assert Memory.objects.values("space_id").distinct().count() == 2


@pytest.mark.django_db(transaction=True)
def test_no_connection_of_the_pool_carries_a_binding_on():
    accesses = [make_access() for _ in range(4)]
    for access in accesses:
        remember(access, f"Of {access.user_id} alone.")
    wrong: list[str] = []

    def work(number: int) -> None:
        access = accesses[number % len(accesses)]
        try:
            if Memory.objects.exists():
                wrong.append("seen without a binding")
            with bound(access):
                texts = list(Memory.objects.values_list("text", flat=True))
                if texts != [f"Of {access.user_id} alone."]:
                    wrong.append(f"seen with the wrong binding: {texts}")
                if number % 3 == 0:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass
        finally:
            connection.close()

    assert threading.current_thread() is threading.main_thread()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(120)))
    assert wrong == []


@pytest.mark.django_db(transaction=True)
def test_the_site_may_not_change_tables_nor_reach_around_their_policies():
    def attempts() -> list[str]:
        refused = []
        with connection.cursor() as cursor:
            for statement in (
                "SELECT * FROM memories_embedding_03",
                "DELETE FROM memories_memoryterm_00",
                "TRUNCATE memories_memory CASCADE",
                "ALTER TABLE memories_memory DISABLE ROW LEVEL SECURITY",
                "DROP POLICY space_isolation ON memories_memory",
                "CREATE TABLE public.copy AS SELECT 1",
                "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "CREATE RULE r AS ON SELECT TO memories_memory DO INSTEAD NOTHING",
                "INSERT INTO django_migrations (app, name, applied) VALUES ('x', 'x', now())",
                "COPY memories_memory TO '/tmp/x'",
                "ALTER ROLE memory_app BYPASSRLS",
                "SELECT * FROM pg_statistic",
            ):
                try:
                    cursor.execute(statement)
                except ProgrammingError:
                    refused.append(statement)
                except Exception as error:
                    refused.append(f"{statement}: {error!r}")
                else:
                    refused.append(f"DONE: {statement}")
            cursor.execute("SELECT row_security_active('memories_memory'), current_user")
            refused.append(str(cursor.fetchone()))
        connection.close()
        return refused

    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(attempts).result()
    assert [line for line in refused if line.startswith("DONE") or "Error" in line] == []
    assert refused[-1] == "(True, 'memory_app')"


def test_upkeep_has_the_owners_rights_and_gives_them_back():
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('role', 'memory_app', true)")
        with as_owner():
            cursor.execute("SELECT row_security_active('memories_memory')")
            assert cursor.fetchone() == (False,)
        cursor.execute("SELECT row_security_active('memories_memory')")
        assert cursor.fetchone() == (True,)


def test_the_words_of_other_spaces_are_no_part_of_statistics(tenants):
    with bound(tenants[0]), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stats WHERE tablename LIKE 'memories%%'")
        assert cursor.fetchone() == (0,)


def count(table: str, space_id: uuid.UUID | None = None) -> int:
    with connection.cursor() as cursor:
        if space_id is None:
            cursor.execute(f"SELECT count(*) FROM {table}")
        else:
            cursor.execute(f"SELECT count(*) FROM {table} WHERE space_id = %s", [space_id])
        return int(cursor.fetchall()[0][0])
