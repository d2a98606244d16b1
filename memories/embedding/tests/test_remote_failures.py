"""Remote providers that fail: tried again or not, permanent or not, and never with a secret in the message."""

import logging
import time
from email.utils import formatdate

import pytest

from core.errors import ProviderUnavailable
from memories.embedding.endpoint import Endpoint
from memories.embedding.openai_compatible import RemoteEmbedder
from memories.providers.breaker import REST_PERMANENT, REST_TEMPORARY
from memories.providers.connection import ATTEMPTS, Patience
from tests.providers.fixtures import configured_embedder

PATIENCE = Patience(attempt=5, total=30)
SECRET = "sk-secret-key"
PRIVATE = "Ada's diagnosis"


class Clock:
    """Time that passes only while somebody pauses."""

    def __init__(self):
        self.now = 0.0
        self.pauses = []

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def endpoint(embedding_server, clock):
    return Endpoint(
        provider="openai",
        base_url=embedding_server.url,
        api_key=SECRET,
        model="test-model",
        pause=clock.pause,
        clock=lambda: clock.now,
    )


def fail(endpoint, patience=PATIENCE):
    with pytest.raises(ProviderUnavailable) as caught:
        endpoint.embed([PRIVATE], dimensions=None, patience=patience)
    return caught.value


@pytest.mark.parametrize(
    ("mode", "setting"),
    [
        ("400", "EMBEDDINGS_MODEL"),
        ("401", "EMBEDDINGS_API_KEY"),
        ("403", "EMBEDDINGS_API_KEY"),
        ("404", "EMBEDDINGS_MODEL"),
        ("empty list", "EMBEDDINGS_ENDPOINT"),
        ("one too few", "EMBEDDINGS_ENDPOINT"),
        ("invalid JSON", "EMBEDDINGS_ENDPOINT"),
        ("web page", "EMBEDDINGS_ENDPOINT"),
    ],
)
def test_what_cannot_get_better_is_permanent_and_tried_once(embedding_server, endpoint, mode, setting):
    embedding_server.mode = mode
    error = fail(endpoint)
    assert error.permanent
    assert setting in error.message
    assert len(embedding_server.requests) == 1


@pytest.mark.parametrize("mode", ["429", "500", "503", "dropped"])
def test_what_can_get_better_is_temporary_and_tried_again(embedding_server, endpoint, mode):
    embedding_server.mode = mode
    assert not fail(endpoint).permanent
    assert len(embedding_server.requests) == ATTEMPTS


@pytest.mark.parametrize("mode", ["429", "500", "503", "dropped"])
def test_a_fault_that_passes_is_not_noticed(embedding_server, endpoint, mode):
    embedding_server.mode = mode
    embedding_server.failures = 1
    assert endpoint.embed(["tea"], dimensions=None, patience=PATIENCE) == [embedding_server.vector("tea")]


def test_a_slow_provider_is_given_up(embedding_server, endpoint):
    embedding_server.mode = "slow"
    error = fail(endpoint, Patience(attempt=0.1, total=30))
    assert not error.permanent
    assert "in time" in error.message


def test_nobody_there_is_temporary(embedding_server, endpoint):
    embedding_server.close()
    error = fail(endpoint)
    assert not error.permanent
    assert "EMBEDDINGS_ENDPOINT" in error.message


def test_retry_after_is_obeyed(embedding_server, endpoint, clock):
    embedding_server.mode = "429"
    embedding_server.retry_after = "7"
    embedding_server.failures = 1
    endpoint.embed(["tea"], dimensions=None, patience=PATIENCE)
    assert clock.pauses == [7.0]


def test_retry_after_may_be_a_date(embedding_server, endpoint, clock):
    embedding_server.mode = "429"
    embedding_server.retry_after = formatdate(time.time() + 20, usegmt=True)
    embedding_server.failures = 1
    endpoint.embed(["tea"], dimensions=None, patience=PATIENCE)
    assert 0 < clock.pauses[0] <= 20
    assert clock.pauses[0] > 1.25


@pytest.mark.parametrize(
    "retry_after",
    [None, "soon", "-1", "nan", "inf", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 99 Oct 2026 07:28:00 GMT"],
)
def test_without_a_readable_retry_after_pauses_grow(embedding_server, endpoint, clock, retry_after):
    embedding_server.mode = "429"
    embedding_server.retry_after = retry_after
    fail(endpoint)
    first, second = clock.pauses
    assert 0.5 <= first <= 0.625
    assert 1.0 <= second <= 1.25


def test_a_retry_after_beyond_the_callers_patience_is_not_waited_for(embedding_server, endpoint, clock):
    embedding_server.mode = "429"
    embedding_server.retry_after = "45"
    fail(endpoint)
    assert clock.pauses == []
    assert len(embedding_server.requests) == 1
    clock.now = 44
    fail(endpoint)
    assert len(embedding_server.requests) == 1


def test_no_money_left_is_not_asked_again(embedding_server, endpoint):
    embedding_server.mode = "out of quota"
    error = fail(endpoint)
    assert "quota" in error.message
    assert len(embedding_server.requests) == 1


@pytest.mark.parametrize(("mode", "rest"), [("500", REST_TEMPORARY), ("401", REST_PERMANENT)])
def test_a_provider_that_failed_is_left_alone_for_a_while(embedding_server, endpoint, clock, mode, rest):
    embedding_server.mode = mode
    first = fail(endpoint)
    asked = len(embedding_server.requests)
    embedding_server.mode = "ok"
    clock.now += rest - 0.1
    again = fail(endpoint)
    assert (again.message, again.permanent) == (first.message, first.permanent)
    assert len(embedding_server.requests) == asked
    clock.now += 0.2
    assert endpoint.embed(["tea"], dimensions=None, patience=PATIENCE)


def test_a_refused_text_does_not_stop_the_others(embedding_server, endpoint):
    embedding_server.mode = "400"
    fail(endpoint)
    embedding_server.mode = "ok"
    assert endpoint.embed(["tea"], dimensions=None, patience=PATIENCE)


@pytest.mark.parametrize(
    ("mode", "setting"),
    [("wrong width", "EMBEDDINGS_DIMENSIONS"), ("zeros", "EMBEDDINGS_MODEL"), ("not a number", "EMBEDDINGS_MODEL")],
)
def test_vectors_that_cannot_be_used_are_permanent_failures(embedding_server, endpoint, mode, setting):
    embedder = RemoteEmbedder(endpoint, dimensions=None)
    embedding_server.mode = mode
    with pytest.raises(ProviderUnavailable) as caught:
        embedder.embed_passages(["tea"])
    assert caught.value.permanent
    assert setting in caught.value.message
    asked = len(embedding_server.requests)
    with pytest.raises(ProviderUnavailable, match=setting):
        embedder.embed_query("tea")
    assert len(embedding_server.requests) == asked


@pytest.mark.parametrize("mode", ["400", "401", "403", "404", "429", "500", "web page", "dropped"])
def test_neither_key_nor_address_nor_text_is_in_messages_and_logs(embedding_server, endpoint, caplog, mode):
    embedding_server.mode = mode
    caplog.set_level(logging.WARNING)
    told = fail(endpoint).message + caplog.text
    assert caplog.records
    for secret in (SECRET, "127.0.0.1", PRIVATE):
        assert secret not in told


def test_the_test_provider_can_fail_at_one_path_only(embedding_server, endpoint):
    embedding_server.modes["/chat/completions"] = "401"
    assert endpoint.embed(["tea"], dimensions=None, patience=PATIENCE)
    embedding_server.modes["/embeddings"] = "401"
    assert fail(endpoint).permanent


def test_a_failed_construction_is_tried_again(remote_embeddings, monkeypatch):
    monkeypatch.setattr("memories.providers.breaker.REST_PERMANENT", 0.0)
    remote_embeddings.mode = "401"
    with pytest.raises(ProviderUnavailable):
        configured_embedder()
    remote_embeddings.mode = "ok"
    assert configured_embedder().spec.dimensions == 8


@pytest.mark.django_db(transaction=True)
def test_no_database_connection_is_held_while_a_provider_is_asked(remote_embeddings, monkeypatch):
    from django.db import connection

    from memories.embedding.endpoint import Endpoint
    from memories.models import Memory

    held = []
    plain = Endpoint._ask

    def asked(self, *arguments):
        held.append(connection.connection is not None)
        return plain(self, *arguments)

    monkeypatch.setattr(Endpoint, "_ask", asked)
    embedder = configured_embedder()
    assert Memory.objects.count() == 0
    assert connection.connection is not None
    embedder.embed_query("Who signs off releases?")
    assert held
    assert not any(held)
