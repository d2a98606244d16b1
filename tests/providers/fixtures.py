"""Fixtures around the test provider; a conftest or a test module imports the ones it uses."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from memories.embedding import service
from memories.embedding.base import Embedder
from memories.embedding.openai_compatible import connect
from memories.embedding.service import get_embedder
from memories.extraction.openai_compatible import connect as connect_chat
from memories.providers.breaker import forget_rests
from tests.providers.server import OpenAICompatibleServer

__all__ = [
    "chat_server",
    "configured_embedder",
    "embedding_server",
    "remote_embeddings",
    "second_model",
    "work_here",
]


def configured_embedder() -> Embedder:
    """The embedder of the settings, which must not turn embeddings off."""
    embedder = get_embedder()
    assert embedder is not None
    return embedder


@pytest.fixture
def embedding_server() -> Iterator[OpenAICompatibleServer]:
    """A provider that nothing is configured to use yet."""
    # The port may be that of a server which failed a moment ago.
    forget_rests()
    with OpenAICompatibleServer() as server:
        yield server


@pytest.fixture
def remote_embeddings(embedding_server: OpenAICompatibleServer, settings: Settings) -> Iterator[OpenAICompatibleServer]:
    """A provider that the settings name: model `test-model`, key `sk-secret-key`."""
    connect.cache_clear()
    service._embedders.clear()
    settings.EMBEDDINGS_PROVIDER = "openai"
    settings.EMBEDDINGS_ENDPOINT = embedding_server.url
    settings.EMBEDDINGS_API_KEY = "sk-secret-key"
    settings.EMBEDDINGS_MODEL = "test-model"
    settings.EMBEDDINGS_DIMENSIONS = None
    yield embedding_server
    connect.cache_clear()


@pytest.fixture
def second_model(remote_embeddings: OpenAICompatibleServer, settings: Settings) -> Iterator[OpenAICompatibleServer]:
    """Another provider, which the settings describe as `large`: model `large-model`, 16 numbers; the default has 8."""
    with OpenAICompatibleServer(dimensions=16) as server:
        settings.EMBEDDINGS_FURTHER = {
            "large": {"provider": "openai", "endpoint": server.url, "api_key": "sk-large-key", "model": "large-model"}
        }
        yield server


@pytest.fixture
def chat_server(settings: Settings) -> Iterator[OpenAICompatibleServer]:
    """A provider that the settings name for extraction: model `test-chat`, key `sk-chat-key`."""
    forget_rests()
    connect_chat.cache_clear()
    with OpenAICompatibleServer() as server:
        settings.EXTRACTION_PROVIDER = "openai"
        settings.EXTRACTION_ENDPOINT = server.url
        settings.EXTRACTION_API_KEY = "sk-chat-key"
        settings.EXTRACTION_MODEL = "test-chat"
        yield server
    connect_chat.cache_clear()


@pytest.fixture
def work_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No broker answers: what is saved is processed by the process that saved it."""
    monkeypatch.setattr("memories.services.handover.request_processing", lambda: False)
