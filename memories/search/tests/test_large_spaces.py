"""Large spaces: their index is built, used, trusted only as far as it goes, and dropped again."""

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection, connections

from memories.models import Embedding, EmbeddingIndex, EmbeddingModel, Memory, ModelState
from memories.search import facts, legs
from memories.search.facts import read_facts, reading
from memories.search.filters import Filter
from memories.search.index import BUILDER_LOCK, maintain_indexes
from memories.search.legs import Meaning, Question, candidates_function
from memories.search.service import search
from memories.search.tests.doubles import WordVectors, use_embedder
from memories.search.words import weigh
from memories.services.backfill import tend
from memories.services.embedding_models import drop_model, model_status, start_backfill
from memories.services.terms import split_words
from memories.tests.factories import make_access, remember

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("embedder")]
LARGE = 150


@pytest.fixture(autouse=True)
def low_threshold(monkeypatch):
    monkeypatch.setattr(facts, "EXACT_ROWS", 100)


@pytest.fixture
def large():
    # What an earlier test has left behind, with its rows gone.
    maintain_indexes()
    access = make_access()
    for number in range(LARGE):
        remember(access, f"apples row{number} tree{number % 7}", category="kept" if number % 50 == 0 else "other")
    return access


def indexes() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'memories\\_hnsw\\_%'")
        return [name for (name,) in cursor.fetchall()]


def plan(access, embedder, *, category=None) -> str:
    """How the statement of candidates would be run."""
    space = access.space(None)
    asked = split_words("apples tree3", space.language)

    with reading(space) as cursor:
        known = read_facts(cursor, space, asked=asked, spec=embedder.spec, filter=Filter(category), with_profile=False)
        assert known.model_id is not None
        meaning = Meaning(embedder.embed_query("apples tree3"), known.model_id, known.uses_index)
        question = Question(space, Filter(category), meaning, weigh(known, {}))
        # A few hundred rows are sorted faster than an index is walked; at true size this needs no help.
        cursor.execute("SET LOCAL enable_sort = off")
        # As the function runs it: with the owner's rights.
        cursor.execute("RESET ROLE")
        statement = candidates_function(question).statement
        cursor.execute("EXPLAIN " + statement, legs.candidates_parameters(question, (), 10))
        return "\n".join(line for (line,) in cursor.fetchall())


def test_a_space_that_has_grown_gets_an_index_and_small_ones_none(large):
    small = make_access()
    remember(small, "apples row1 tree1")
    done = maintain_indexes()
    assert len(done) == 1
    assert done[0].startswith("built")
    (row,) = EmbeddingIndex.objects.all()
    assert (row.space_id, row.row_count, row.is_ready) == (large.space(None).id, LARGE, True)
    assert indexes() == [row.name]
    assert maintain_indexes() == []


def test_the_index_is_walked_once_it_is_ready_and_not_before(large, embedder):
    name = f"memories_hnsw_{EmbeddingModel.objects.get().id}_{large.space(None).id.hex}"
    assert name not in plan(large, embedder)
    maintain_indexes()
    assert name in plan(large, embedder)
    EmbeddingIndex.objects.update(is_ready=False)
    assert name not in plan(large, embedder)


def test_a_category_with_few_memories_is_compared_exactly(large, embedder):
    maintain_indexes()
    assert "memories_hnsw" not in plan(large, embedder, category="kept")
    assert {m.memory.category for m in search(large, query="apples", category="kept").matches} == {"kept"}
    assert "memories_hnsw" in plan(large, embedder, category="other")


def test_a_search_by_index_finds_what_the_exact_one_finds(large):
    questions = [f"apples row{number}" for number in range(0, LARGE, 10)]
    exact = [[match.memory.id for match in search(large, query=question).matches] for question in questions]
    maintain_indexes()
    walked = [[match.memory.id for match in search(large, query=question).matches] for question in questions]
    shared = [len(set(one) & set(two)) / len(one) for one, two in zip(exact, walked, strict=True)]
    assert np.mean(shared) > 0.97


def test_a_small_tenant_beside_a_large_one_is_compared_exactly_and_misses_nothing(large, embedder):
    maintain_indexes()
    small = make_access()
    own = {remember(small, f"apples row{number} tree{number}").id for number in range(20)}
    assert "memories_hnsw" not in plan(small, embedder)
    result = search(small, query="pears", limit=50)
    assert {match.memory.id for match in result.matches} == own
    assert all("vector" in match.scores for match in result.matches)


def test_an_index_that_gives_out_early_is_made_up_for(large):
    maintain_indexes()
    # Most of what the index leads to is gone, as after many were forgotten at once.
    kept = list(Memory.objects.filter(text__contains="row1").values_list("id", flat=True)[:12])
    Embedding.objects.exclude(memory_id__in=kept).delete()
    result = search(large, query="something else", limit=12)
    assert {match.memory.id for match in result.matches if "vector" in match.scores} == set(kept)


def test_a_few_long_memories_do_not_take_all_the_places(embedder, monkeypatch):
    monkeypatch.setattr(legs, "CHUNKS", 20)
    access = make_access()
    for number in range(3):
        remember(access, f"apples of farm {number} " + "apples and more apples " * 60)
    for number in range(12):
        remember(access, f"pears {number}")
    result = search(access, query="apples", limit=12)
    assert sum("vector" in match.scores for match in result.matches) == 12


def test_an_interrupted_build_is_done_again(large):
    maintain_indexes()
    (name,) = indexes()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [name])
    done = maintain_indexes()
    assert [line.split()[0] for line in done] == ["dropped", "built"]
    assert indexes() == [name]
    assert EmbeddingIndex.objects.get().is_ready


def test_an_index_lost_in_a_restore_is_built_again(large):
    maintain_indexes()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {indexes()[0]}")
    assert [line.split()[0] for line in maintain_indexes()] == ["built"]


def test_an_index_is_dropped_when_its_space_has_shrunk_by_half_and_not_sooner(large):
    maintain_indexes()
    ids = list(Memory.objects.values_list("id", flat=True))
    Embedding.objects.filter(memory_id__in=ids[:90]).delete()
    assert maintain_indexes() == []
    assert EmbeddingIndex.objects.get().row_count == LARGE - 90
    Embedding.objects.filter(memory_id__in=ids[:110]).delete()
    assert [line.split()[0] for line in maintain_indexes()] == ["dropped"]
    assert indexes() == []
    assert not EmbeddingIndex.objects.exists()


def test_the_index_of_a_deleted_space_is_dropped(large):
    from spaces.models import Space

    maintain_indexes()
    Space.objects.filter(id=large.space(None).id).delete()
    assert [line.split()[0] for line in maintain_indexes()] == ["dropped"]


def test_two_builders_do_not_meet(large):
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [BUILDER_LOCK])
        assert maintain_indexes() == []
        assert indexes() == []
        cursor.execute("SELECT pg_advisory_unlock(%s)", [BUILDER_LOCK])
    other.close()
    assert len(maintain_indexes()) == 1


def test_the_command_says_what_was_done(large, capsys):
    call_command("build_indexes", "--json")
    assert '"built ' in capsys.readouterr().out
    call_command("build_indexes")
    assert "Nothing to do" in capsys.readouterr().out


def test_dropping_a_model_drops_the_indexes_of_its_spaces(large, embedder, monkeypatch):
    second = WordVectors(dimensions=32, slug="test:second")
    use_embedder(monkeypatch, embedder, second)
    model = EmbeddingModel.objects.create(slug=second.spec.slug, dimensions=32, state=ModelState.ADDED)
    start_backfill(model)
    while EmbeddingModel.objects.get(id=model.id).state == ModelState.BACKFILLING:
        tend(model.id)
    maintain_indexes()
    assert len(indexes()) == 2
    assert model_status(model).indexes_ready == 1
    assert drop_model(model) == LARGE
    (kept,) = indexes()
    assert not kept.startswith(f"memories_hnsw_{model.id}_")
    assert search(large, query="apples tree3").degraded == ()
