"""Embedding models in the admin: superusers change them there, with progress; nobody else does."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.urls import resolve, reverse
from guardian.shortcuts import assign_perm

from accounts.tests.admin import staff, superuser
from memories.models import EmbeddingModel, ModelState
from memories.services import embedding_models
from memories.services.backfill import tend
from memories.services.embedding_models import add_model, find_model, start_backfill
from memories.tests.factories import make_access, make_space, remember
from spaces.middleware import _BINDS_ITSELF

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("second_model")]
LIST = "admin:memories_embeddingmodel_changelist"
CONFIGURED = "admin:memories_embeddingmodel_configured"
PAGE = "admin:memories_embeddingmodel_change"
ACT = "admin:memories_embeddingmodel_act"
COMPARE = "admin:memories_embeddingmodel_compare"
ROLLBACK = "admin:memories_embeddingmodel_rollback"


@pytest.fixture
def access():
    access = make_access("research")
    remember(access, "apples are red")
    remember(access, "plums are blue")
    return access


def filled() -> EmbeddingModel:
    model = start_backfill(add_model("large"))
    tend(model.id)
    return EmbeddingModel.objects.get(id=model.id)


def do(client, model, action, **values):
    return client.post(reverse(ACT, args=[model.id]), {"action": action, **values}, follow=True).content.decode()


def test_a_whole_change_of_model(access):
    client = superuser()
    text = client.post(reverse(CONFIGURED), {"name": "large"}, follow=True).content.decode()
    assert "0 of 2 memories" in text
    model = find_model("large")
    assert "new memories are embedded" in do(client, model, "backfill", per_minute="0")
    tend(model.id)
    text = client.get(reverse(PAGE, args=[model.id])).content.decode()
    assert "2 of 2 memories" in text
    assert "Searches use it from now on" in do(client, model, "switch")
    assert find_model("large").state == ModelState.SEARCHED
    client.post(reverse(ROLLBACK))
    assert find_model("default").state == ModelState.SEARCHED
    assert "its vectors stay" in do(client, model, "retire")
    assert "The worker removes it" in do(client, model, "drop")
    tend(model.id)
    assert not EmbeddingModel.objects.filter(id=model.id).exists()
    assert {entry.user.email for entry in LogEntry.objects.all()} == {client_user(client)}


def client_user(client) -> str:
    return str(client.get("/admin/").wsgi_request.user.email)


def test_models_are_compared_side_by_side(access):
    client, model = superuser(), filled()
    answer = client.post(
        reverse(COMPARE, args=[model.id]), {"space": access.space(None).id, "questions": "apples\nplums\n"}
    )
    text = answer.content.decode()
    assert text.count("100 % in both</caption>") == 2
    assert "apples are red" in text
    many = client.post(
        reverse(COMPARE, args=[model.id]), {"space": access.space(None).id, "questions": "apples\n" * 51}
    )
    assert "At most 50 questions" in many.content.decode()


def test_a_working_model_tells_how_long_it_takes_and_reloads(access):
    client = superuser()
    model = start_backfill(add_model("large"), per_minute=1)
    tend(model.id)
    text = client.get(reverse(PAGE, args=[model.id])).content.decode()
    assert "1 of 2 memories" in text
    assert "about 1 minutes are left" in text
    assert 'http-equiv="refresh"' in text


def test_what_is_refused_is_told_and_changes_nothing(access, second_model):
    client = superuser()
    model = add_model("large")
    assert "is not complete" in do(client, model, "switch")
    assert "greater than or equal to 0" in do(client, model, "backfill", per_minute="-1")
    assert "is there already" in client.post(reverse(CONFIGURED), {"name": "large"}).content.decode()
    assert "No other embedding model" in client.post(reverse(ROLLBACK), follow=True).content.decode()
    second_model.mode = "401"
    assert "refused the key" in do(client, model, "check")
    model.refresh_from_db()
    assert (model.state, find_model("default").state) == (ModelState.ADDED, ModelState.SEARCHED)
    assert "refused the key" in model.problem


def test_the_settings_models_are_listed(access):
    add_model("large")
    text = superuser().get(reverse(CONFIGURED)).content.decode()
    assert "test-model" in text
    assert "large-model" in text
    assert "sk-large-key" not in text


def test_providers_are_asked_outside_of_the_admins_transaction(access, monkeypatch):
    model = filled()
    for name, arguments in ((CONFIGURED, []), (ROLLBACK, []), (ACT, [model.id]), (COMPARE, [model.id])):
        assert getattr(resolve(reverse(name, args=arguments)).func, _BINDS_ITSELF)
    assert not hasattr(resolve(reverse(PAGE, args=[model.id])).func, _BINDS_ITSELF)


@pytest.mark.django_db(transaction=True)
def test_a_switch_in_the_admin_holds_no_transaction_while_the_provider_is_asked(access, monkeypatch):
    model, inside = filled(), []
    plain = embedding_models.embedder_of

    def watched(row):
        inside.append(connection.in_atomic_block)
        return plain(row)

    monkeypatch.setattr(embedding_models, "embedder_of", watched)
    do(superuser(), model, "switch")
    assert inside == [False]
    assert find_model("large").state == ModelState.SEARCHED


def test_the_manager_of_a_space_neither_sees_nor_changes_models(access):
    model = filled()
    client, user = staff()
    assign_perm("manage_space", user, make_space("managed"))
    assert "large-model" not in client.get(reverse(LIST)).content.decode()
    assert client.get(reverse(PAGE, args=[model.id])).status_code == 302
    for name, arguments in ((CONFIGURED, []), (ROLLBACK, []), (ACT, [model.id]), (COMPARE, [model.id])):
        answer = client.post(reverse(name, args=arguments), {"action": "drop", "name": "large"})
        assert answer.status_code == 403, name
    model.refresh_from_db()
    assert model.state == ModelState.READY
