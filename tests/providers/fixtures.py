"""Fixtures around the test provider; a conftest or a test module imports the ones it uses."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from memories.embedding.openai_compatible import connect
from tests.providers.server import OpenAICompatibleServer

__all__ = ["embedding_server", "remote_embeddings"]


@pytest.fixture
def embedding_server() -> Iterator[OpenAICompatibleServer]:
    """A provider that nothing is configured to use yet."""
    with OpenAICompatibleServer() as server:
        yield server


@pytest.fixture
def remote_embeddings(embedding_server: OpenAICompatibleServer, settings: Settings) -> Iterator[OpenAICompatibleServer]:
    """A provider that the settings name: model `test-model`, key `sk-secret-key`."""
    connect.cache_clear()
    settings.EMBEDDINGS_PROVIDER = "openai"
    settings.EMBEDDINGS_ENDPOINT = embedding_server.url
    settings.EMBEDDINGS_API_KEY = "sk-secret-key"
    settings.EMBEDDINGS_MODEL = "test-model"
    settings.EMBEDDINGS_DIMENSIONS = None
    yield embedding_server
    connect.cache_clear()
