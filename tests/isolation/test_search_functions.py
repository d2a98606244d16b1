"""The functions of search run with the owner's rights, and still answer for bound spaces alone.

Each attack is made as the application's role, as if somebody could send SQL of their own inside a request.
"""

import inspect
import uuid

import pytest
from django.db import DatabaseError, connection, transaction

from memories.models import EmbeddingModel, MemoryTag
from memories.search import functions
from memories.search.service import search
from memories.search.tests.conftest import embedder  # noqa: F401
from memories.tests.factories import link, make_access, remember
from spaces.isolation import bound

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]
NAMES = sorted(functions._FUNCTIONS)


# Parameters that mean something else in one function.
OF_ONE = {"facts": {"words": "{alarm}"}, "keyword": {"scanned": 1000}}


def values(space_id, **changed):
    """Arguments with which every function would find something in a space of `tenants`."""
    return {
        "space": space_id,
        "model": EmbeddingModel.objects.get().id,
        "vector": "[" + ",".join(["0.1"] * 64) + "]",
        "dimensions": 64,
        "terms": "{alarm,code}",
        "weights": "{0.5,0.5}",
        "scanned": "{true,true}",
        "saturation": 0.3,
        "per_term": 0.01,
        "all_scanned": True,
        "candidates": 100,
        "postings": 1000,
        "literal": "{}",
        "keep": 50,
        "chunks": 200,
        "category": "secret",
        "topics": None,
        "tags": "{secret}",
        "pattern": "%alarm%",
        "has_trigram": True,
        "numbers": "{0}",
        "exact": "{true}",
        "words": 1,
        "limit": 10,
        "word": "alarm",
        "prefix": "al%",
        "suffix": "%rm",
        "middle": "al%",
        "whole": "{alarm}",
        "shortest": 1,
        "longest": 50,
        "beginning": "alarm%",
        "ending": "%alarm",
        "most": 100,
        "timeout": "10000",
        "ef_search": "100",
        "languages": "{english}",
        "grams": "{}",
        "slug": None,
        "profile": 5,
        "most_counted": 10,
        "best": "{}",
        "scored": "{}",
        "gap": "10 minutes",
        "interleaved": 5,
        "links": 5,
        "with_source": True,
        "with_session": True,
        "with_links": True,
    } | changed


@pytest.fixture
def tenants():
    found = []
    for _ in range(2):
        access = make_access()
        one = remember(access, "The alarm code is 4711.", category="secret", source="chat")
        MemoryTag.objects.create(space_id=one.space_id, memory=one, name="secret")
        link(one, remember(access, "The alarm was changed.", source="chat"))
        found.append((access, one))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_an_unbound_space_is_answered_with_nothing(name, tenants):
    function = functions._FUNCTIONS[name]
    (ours, _), (theirs, foreign) = tenants
    arguments = values(theirs.space(None).id, best=f"{{{foreign.id}}}")
    arguments |= OF_ONE.get(name, {})
    with bound(ours), connection.cursor() as cursor:
        assert function.call(cursor, arguments) == []
        # Foreign ids among one's own are not followed either.
        mixed = arguments | {"space": ours.space(None).id, "best": f"{{{foreign.id}}}", "literal": f"{{{foreign.id}}}"}
        assert str(foreign.id) not in str(function.call(cursor, mixed))
    with bound([]), connection.cursor() as cursor:
        assert function.call(cursor, arguments) == []
    with bound(theirs), connection.cursor() as cursor:
        assert function.call(cursor, arguments) != []


def test_they_have_a_fixed_path_and_are_closed_to_the_public():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname, prosecdef, proconfig, has_function_privilege('public', oid, 'EXECUTE') FROM pg_proc"
            " WHERE proname LIKE 'memories\\_search\\_%%'"
        )
        rows = cursor.fetchall()
    assert sorted(name for name, *_ in rows) == [functions.PREFIX + name for name in NAMES]
    for _, is_definer, configuration, is_public in rows:
        assert is_definer
        assert configuration == ["search_path=pg_catalog, public, pg_temp"]
        assert not is_public


def test_temporary_tables_functions_and_operators_of_the_caller_are_not_met(tenants):
    (ours, _), _ = tenants
    with bound(ours), connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE memories_memory AS SELECT * FROM public.memories_memory")
        cursor.execute("CREATE TEMP TABLE memories_vocabularyterm (space_id uuid, term text, memory_count int)")
        cursor.execute("INSERT INTO pg_temp.memories_vocabularyterm VALUES (%s, 'planted', 1)", [ours.space(None).id])
        cursor.execute(
            "CREATE FUNCTION pg_temp.seen(text, text) RETURNS bool LANGUAGE plpgsql COST 0.0001"
            " AS $$ BEGIN RAISE EXCEPTION 'saw %', $1; END $$"
        )
        cursor.execute("CREATE OPERATOR pg_temp.~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.seen)")
        cursor.execute("SET LOCAL search_path = pg_temp, public")
        found = functions._FUNCTIONS["near_terms"].call(cursor, values(ours.space(None).id, whole="{planted}"))
    assert "planted" not in str(found)
    assert "alarm" in str(found)


@pytest.mark.parametrize(
    "changed",
    [
        {"vector": "[1,2]", "dimensions": 2},
        {"pattern": "\\"},
        {"dimensions": 999_999},
        {"terms": "{alarm}", "weights": "{}"},
        {"prefix": "\\", "suffix": "\\"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", NAMES)
def test_errors_tell_nothing_of_other_spaces(name, changed, tenants):
    """What fails for a space that exists fails, or answers nothing, for one that does not: the same."""
    (ours, _), (theirs, _) = tenants

    changed = OF_ONE.get(name, {}) | changed

    def outcome(space_id):
        try:
            with bound(ours), transaction.atomic(), connection.cursor() as cursor:
                return functions._FUNCTIONS[name].call(cursor, values(space_id, **changed))
        except DatabaseError as error:
            return str(error).replace(str(space_id), "")

    assert outcome(theirs.space(None).id) == outcome(uuid.uuid4())


def test_a_role_without_rights_cannot_call_them():
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE stranger")
        cursor.execute("SET LOCAL ROLE stranger")
        with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
            functions._FUNCTIONS["near_terms"].call(cursor, values("00000000-0000-0000-0000-000000000000"))


def test_a_search_of_one_space_reads_no_other_through_any_function(tenants):
    (ours, own), (_, foreign) = tenants
    for way in ({"query": "alarm code"}, {"query": "alrm cod"}, {"keyword": "alarm"}, {"keyword": "alram"}):
        found = {match.memory.id for match in search(ours, **way).matches}
        assert own.id in found, way
        assert foreign.id not in found


def test_every_function_names_the_space_for_every_table():
    """A table without the condition would be read across spaces, with the owner's rights."""
    for name, function in functions._FUNCTIONS.items():
        tables = function.statement.count("memories_") - function.statement.count("memories_embeddingmodel")
        conditions = function.statement.count("%(space)s")
        assert conditions >= tables, f"{name}: {tables} tables, {conditions} conditions"
    assert inspect.getsource(functions).count("SECURITY DEFINER") == 1
