"""Changing the embedding model while searches go on: add, backfill, compare, switch, roll back, drop."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from core.errors import Conflict, Invalid, NotFound, ProviderUnavailable
from memories.models import Embedding, EmbeddingIndex, EmbeddingModel, ModelState, PendingEmbedding
from memories.search.service import search
from memories.services.backfill import tend
from memories.services.compare_models import compare_models
from memories.services.embedding_models import (
    add_model,
    drop_model,
    find_model,
    list_models,
    model_status,
    retire_model,
    roll_back,
    start_backfill,
    switch_to,
)
from memories.services.embeddings import embed_pending
from memories.services.searched_model import active_model, searched_problem
from memories.tests.factories import make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("second_model")]

DEFAULT, LARGE = "openai:test-model@8", "openai:large-model@16"


@pytest.fixture
def access():
    access = make_access()
    for number in range(3):
        remember(access, f"apples number {number}")
    return access


def widths(access) -> dict[int, int]:
    """How many vectors of each width are stored."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT vector_dims(embedding), count(*) FROM memories_embedding WHERE space_id = %s GROUP BY 1",
            [access.space(None).id],
        )
        return dict(cursor.fetchall())


def filled(name: str = "large") -> EmbeddingModel:
    model = start_backfill(add_model(name))
    tend(model.id)
    model.refresh_from_db()
    assert model.state == ModelState.READY
    return model


def make_due() -> None:
    EmbeddingModel.objects.update(next_batch_at=timezone.now() - timedelta(seconds=1))
    PendingEmbedding.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_the_default_model_of_the_settings_is_searched_by_at_first(access):
    (model,) = list_models()
    assert (model.slug, model.dimensions, model.state) == (DEFAULT, 8, ModelState.SEARCHED)


def test_a_model_is_added_after_its_provider_answered(access, second_model):
    model = add_model("large")
    assert (model.slug, model.dimensions, model.state) == (LARGE, 16, ModelState.ADDED)
    assert second_model.requests
    with pytest.raises(Conflict, match="is there already"):
        add_model("large")
    with pytest.raises(NotFound, match="there are: default, large"):
        add_model("huge")


@pytest.mark.parametrize("mode", ["401", "404", "web page", "dropped"])
def test_a_model_whose_provider_does_not_answer_is_not_added(access, second_model, mode, monkeypatch):
    monkeypatch.setattr("memories.providers.connection.FIRST_PAUSE", 0.0)
    second_model.mode = mode
    with pytest.raises(ProviderUnavailable, match=r"EMBEDDINGS_LARGE_(API_KEY|MODEL|ENDPOINT)"):
        add_model("large")
    assert [model.slug for model in list_models()] == [DEFAULT]


def test_a_model_of_another_width_than_the_settings_say_is_not_added(access, settings, second_model):
    settings.EMBEDDINGS_FURTHER["large"]["dimensions"] = 12
    second_model.is_reducible = False
    with pytest.raises(ProviderUnavailable):
        add_model("large")
    assert [model.slug for model in list_models()] == [DEFAULT]


def test_a_second_model_can_be_added_while_the_first_is_down(remote_embeddings, monkeypatch):
    monkeypatch.setattr("memories.providers.connection.FIRST_PAUSE", 0.0)
    remote_embeddings.mode = "500"
    assert add_model("large").state == ModelState.ADDED


def test_a_backfill_embeds_what_is_there_and_what_comes(access):
    model = start_backfill(add_model("large"))
    remember(access, "apples from today")
    assert PendingEmbedding.objects.filter(model=model).count() == 1
    tend(model.id)
    model.refresh_from_db()
    assert model.state == ModelState.READY
    assert widths(access) == {8: 4, 16: 4}
    remember(access, "apples from tomorrow")
    embed_pending()
    assert widths(access) == {8: 5, 16: 5}


def test_a_model_that_was_only_added_embeds_nothing(access):
    add_model("large")
    remember(access, "apples from today")
    embed_pending()
    assert widths(access) == {8: 4}


def test_progress_is_told_with_an_estimate(access):
    model = add_model("large")
    status = model_status(model)
    assert (status.total, status.done, status.remaining, status.seconds_left) == (3, 0, 3, None)
    assert status.configured_as == ("large",)
    model = start_backfill(model, per_minute=2)
    pause = tend(model.id)
    assert pause == pytest.approx(60)
    model.refresh_from_db()
    status = model_status(model)
    assert (status.done, status.remaining) == (2, 1)
    assert status.seconds_left == pytest.approx(30, rel=0.2)


def test_a_limit_holds_across_processes(access):
    model = start_backfill(add_model("large"), per_minute=1)
    assert tend(model.id) == pytest.approx(60)
    # Another process that was told the same.
    assert tend(model.id) is None
    assert widths(access)[16] == 1
    EmbeddingModel.objects.update(next_batch_at=timezone.now() - timedelta(seconds=1))
    tend(model.id)
    assert widths(access)[16] == 2


def test_a_backfill_that_was_interrupted_goes_on(access, second_model, monkeypatch):
    monkeypatch.setattr("memories.providers.connection.FIRST_PAUSE", 0.0)
    monkeypatch.setattr("memories.providers.breaker.REST_TEMPORARY", 0.0)
    model = start_backfill(add_model("large"))
    second_model.mode = "500"
    assert tend(model.id) == 60
    model.refresh_from_db()
    assert model.state == ModelState.BACKFILLING
    assert model_status(model).failing == 3
    for _ in range(6):
        make_due()
        tend(model.id)
    model.refresh_from_db()
    assert model.state == ModelState.BACKFILLING
    second_model.mode = "ok"
    make_due()
    tend(model.id)
    model.refresh_from_db()
    assert model.state == ModelState.READY
    assert widths(access) == {8: 3, 16: 3}


def test_one_text_that_is_refused_does_not_hold_up_the_others(access, second_model, monkeypatch):
    remember(access, "poison")
    plain = second_model._answer

    def refuses_poison(body, mode):
        if any("poison" in text for text in body["input"]):
            return 400, {"error": {"message": "no", "code": "bad_request"}}
        return plain(body, mode)

    monkeypatch.setattr(second_model, "_answer", refuses_poison)
    model = start_backfill(add_model("large"))
    tend(model.id)
    assert widths(access)[16] == 3
    assert model_status(model).remaining == 1
    model.refresh_from_db()
    assert (model.state, model.problem) == (ModelState.READY, "")
    assert model_status(model).failing == 1


def test_searches_use_the_model_switched_to_at_once_and_the_other_stays_ready(access, second_model):
    model = filled()
    second_model.requests.clear()
    search(access, query="which apples")
    assert not second_model.requests
    switch_to(model)
    result = search(access, query="which apples")
    assert second_model.requests
    assert (result.legs, result.degraded, result.pending_embeddings) == (("vector", "words"), (), 0)
    assert {row.slug: row.state for row in list_models()} == {LARGE: ModelState.SEARCHED, DEFAULT: ModelState.READY}
    remember(access, "apples after the switch")
    embed_pending()
    assert widths(access) == {8: 4, 16: 4}


def test_rolling_back_leads_to_the_model_before(access):
    switch_to(filled())
    assert roll_back().slug == DEFAULT
    assert roll_back().slug == LARGE


def test_without_a_model_before_there_is_nothing_to_roll_back_to(access):
    with pytest.raises(Conflict, match="No other"):
        roll_back()


def test_a_model_that_is_not_complete_is_switched_to_only_on_demand_and_says_what_it_lacks(access):
    model = add_model("large")
    with pytest.raises(Conflict, match="not complete"):
        switch_to(model)
    switch_to(model, incomplete=True)
    result = search(access, query="apples")
    assert result.pending_embeddings == 3
    assert len(result.matches) == 3
    embed_pending()
    assert search(access, query="apples").pending_embeddings == 0


def test_a_model_that_does_not_answer_is_not_switched_to(access, second_model, monkeypatch):
    monkeypatch.setattr("memories.providers.connection.FIRST_PAUSE", 0.0)
    model = filled()
    second_model.mode = "500"
    with pytest.raises(ProviderUnavailable):
        switch_to(model)
    assert active_model().embedder.spec.slug == DEFAULT


def test_a_backfill_in_progress_does_not_count_as_pending_in_searches(access):
    model = start_backfill(add_model("large"), per_minute=1)
    tend(model.id)
    assert PendingEmbedding.objects.filter(model=model).exists()
    assert search(access, query="apples").pending_embeddings == 0
    assert search(access, keyword="apples").pending_embeddings == 0


def test_models_are_compared_question_by_question(access):
    remember(access, "plums are blue")
    comparison = compare_models(access, ["apples", "plums"], filled())
    assert (comparison.searched, comparison.candidate, comparison.lacking) == (DEFAULT, LARGE, 0)
    assert [asked.question for asked in comparison.questions] == ["apples", "plums"]
    for asked in comparison.questions:
        assert asked.overlap == pytest.approx(1.0)
        assert asked.candidate.matches[0][1].startswith(asked.question)
    assert comparison.overlap == pytest.approx(1.0)


def test_a_comparison_says_what_the_candidate_lacks_and_takes_some_questions(access):
    model = add_model("large")
    assert compare_models(access, ["apples"], model).lacking == 3
    with pytest.raises(Invalid, match="1 to 50 questions"):
        compare_models(access, [], model)


def test_the_model_searched_by_is_neither_dropped_nor_retired_nor_filled(access):
    model = find_model("default")
    for change in (drop_model, retire_model, start_backfill):
        with pytest.raises(Conflict, match="searched by"):
            change(model)


def test_dropping_a_model_removes_its_vectors_debts_and_row_and_nothing_else(access):
    model = filled()
    EmbeddingIndex.objects.create(space_id=access.space(None).id, model=model, name="x")
    remember(access, "apples with a debt")
    assert PendingEmbedding.objects.filter(model=model).exists()
    assert drop_model(model) == 3
    assert widths(access) == {8: 4}
    assert not PendingEmbedding.objects.filter(model_id=model.id).exists()
    assert not EmbeddingIndex.objects.exists()
    assert [row.slug for row in list_models()] == [DEFAULT]
    remember(access, "apples after it")
    assert search(access, query="apples").pending_embeddings == 0


def test_a_removal_that_was_interrupted_is_taken_up_by_the_worker(access):
    model = filled()
    EmbeddingModel.objects.filter(id=model.id).update(state=ModelState.DROPPING)
    for refused in (switch_to, start_backfill, retire_model):
        with pytest.raises(Conflict, match="being removed"):
            refused(model)
    tend(model.id)
    assert [row.slug for row in list_models()] == [DEFAULT]


def test_a_retired_model_keeps_its_vectors_and_gets_no_new_ones_until_it_is_filled_again(access):
    model = retire_model(filled())
    remember(access, "apples while it is retired")
    embed_pending()
    assert widths(access) == {8: 4, 16: 3}
    start_backfill(model)
    tend(model.id)
    assert widths(access) == {8: 4, 16: 4}


def test_two_models_cannot_be_searched_by_at_once(access):
    with pytest.raises(IntegrityError), transaction.atomic():
        EmbeddingModel.objects.create(slug="other", dimensions=3, state=ModelState.SEARCHED)


def test_a_provider_that_suddenly_answers_another_width_degrades_search_and_stores_nothing(
    access, second_model, monkeypatch
):
    model = switch_to(filled())
    second_model.dimensions = 20
    result = search(access, query="something new")
    assert (result.degraded, result.legs) == (("vector",), ("words",))
    remember(access, "apples of another width")
    assert widths(access) == {8: 3, 16: 3}
    assert "20 numbers where 16" in searched_problem()
    assert "EMBEDDINGS_LARGE_DIMENSIONS" in searched_problem()
    second_model.dimensions = 16
    monkeypatch.setattr("memories.providers.breaker.Breaker.check", lambda self: None)
    PendingEmbedding.objects.filter(model=model).update(next_attempt_at=timezone.now())
    embed_pending()
    assert widths(access)[16] == 4
    assert searched_problem() is None


def test_settings_that_describe_another_model_than_the_one_searched_by_degrade_search_until_it_is_changed(
    access, settings, monkeypatch
):
    settings.EMBEDDINGS_MODEL = "newer-model"
    result = search(access, query="apples")
    assert (result.degraded, result.legs) == (("vector",), ("words",))
    assert f"{DEFAULT} is not configured any more" in searched_problem()
    assert remember(access, "apples while degraded").is_active
    model = filled("default")
    assert model.slug == "openai:newer-model@8"
    switch_to(model)
    assert searched_problem() is None
    result = search(access, query="apples")
    assert (len(result.matches), result.degraded, result.pending_embeddings) == (4, (), 0)


def test_embeddings_that_are_turned_off_search_by_no_model(access, settings):
    settings.EMBEDDINGS_PROVIDER = "none"
    assert active_model() is None
    assert searched_problem() is None
    assert embed_pending() == 0
    result = search(access, query="apples")
    assert (result.legs, result.degraded) == (("words",), ())


def test_no_memory_is_lost_by_a_change_of_model(access):
    switch_to(filled())
    drop_model(find_model(DEFAULT))
    assert Embedding.objects.filter(space_id=access.space(None).id).count() == 3
    assert len(search(access, query="apples").matches) == 3
