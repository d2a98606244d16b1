"""bin/manage embedding_models: every action, as text and as JSON, and one sentence for every mistake."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from memories.models import EmbeddingModel, ModelState
from memories.tests.factories import make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("second_model")]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("embedding_models", *arguments, stdout=out)
    return out.getvalue()


def data(*arguments: str):
    return json.loads(run(*arguments, "--json"))


@pytest.fixture
def access():
    access = make_access("research")
    remember(access, "apples are red")
    remember(access, "plums are blue")
    return access


def test_a_whole_change_of_model(access):
    assert data("add", "large")["model"] == {
        "id": EmbeddingModel.objects.get(slug="openai:large-model@16").id,
        "model": "openai:large-model@16",
        "dimensions": 16,
        "state": "added",
        "problem": None,
    }
    status = data("backfill", "large", "--wait")["status"]
    assert (status["state"], status["embedded"], status["memories"], status["remaining"]) == ("ready", 2, 2, 0)
    assert data("status", "large")["status"] == status
    compared = data("compare", "large", "--space", "research", "--query", "apples", "--query", "plums")
    assert (compared["searched"], compared["candidate"]) == ("openai:test-model@8", "openai:large-model@16")
    assert [asked["question"] for asked in compared["questions"]] == ["apples", "plums"]
    assert compared["questions"][0]["candidate"][0]["text"] == "apples are red"
    assert data("switch", "large")["model"]["state"] == "searched"
    assert data("rollback")["model"]["model"] == "openai:test-model@8"
    assert data("retire", "large")["model"]["state"] == "retired"
    assert data("drop", "large") == {"dropped": "openai:large-model@16", "vectors": 2}
    assert [model["state"] for model in data("list")["models"]] == ["searched"]


def test_a_backfill_without_waiting_is_left_to_the_worker(access):
    run("add", "large")
    status = data("backfill", "large", "--per-minute", "90")["status"]
    assert (status["state"], status["remaining"], status["perMinute"]) == ("backfilling", 2, 90)


def test_people_read_it_too(access):
    assert "openai:test-model@8: searched by" in run("list")
    assert "added" in run("add", "large")
    assert "2 of 2 memories are embedded" in run("backfill", "large", "--wait")
    assert "100%" in run("compare", "large", "--space", "research", "--query", "apples")
    assert "is removed, with 2 vectors" in run("drop", "large")


def test_the_list_says_when_searches_by_meaning_do_not_work(access, settings):
    settings.EMBEDDINGS_MODEL = "another"
    assert "not configured any more" in data("list")["problem"]
    assert "Searches by meaning do not work" in run("list")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["switch"], "takes the name of a model"),
        (["switch", "none-such"], "there are: openai:test-model@8"),
        (["add", "none-such"], "there are: default, large"),
        (["drop", "default"], "switch to another model first"),
        (["rollback"], "No other embedding model"),
        (["compare", "default", "--query", "apples"], "--space"),
        (["compare", "default", "--space", "none-such", "--query", "apples"], "no space with the key"),
        (["compare", "default", "--space", "research"], "1 to 50 questions"),
        (["frobnicate"], "invalid choice"),
    ],
)
def test_every_mistake_is_one_sentence(access, arguments, sentence):
    with pytest.raises(CommandError, match=sentence):
        run(*arguments)
    assert EmbeddingModel.objects.get().state == ModelState.SEARCHED
