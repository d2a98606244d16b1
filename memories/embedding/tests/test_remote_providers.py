"""Which address and credential each provider gets, and that nothing comes from the client's own environment."""

import pytest

from core.errors import ProviderUnavailable
from memories.embedding.configurations import Configuration
from memories.embedding.endpoint import QUERY, Endpoint
from memories.embedding.openai_compatible import connect
from memories.providers.connection import GEMINI_URL, OPENAI_URL


def send(endpoint):
    return endpoint.embed(["tea"], dimensions=None, patience=QUERY)


def test_openai_gets_the_key_as_bearer(embedding_server):
    send(Endpoint(provider="openai", base_url=embedding_server.url, api_key="sk-1", model="m"))
    request = embedding_server.requests[0]
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.body == {"model": "m", "input": ["tea"], "encoding_format": "float"}


def test_azure_gets_deployment_version_and_key_header(embedding_server):
    base = embedding_server.url.removesuffix("/v1")
    send(Endpoint(provider="azure", base_url=base, api_key="azure-1", model="my-deployment"))
    request = embedding_server.requests[0]
    assert request.path == "/openai/deployments/my-deployment/embeddings?api-version=2024-10-21"
    assert request.headers["api-key"] == "azure-1"
    assert "authorization" not in request.headers


@pytest.mark.parametrize("path", ["", "/", "/openai", "/openai/", "/openai/v1/", "/openai/deployments/other"])
def test_azure_addresses_are_taken_as_the_portal_shows_them(path):
    client = Endpoint(provider="azure", base_url=f"https://r.azure.com{path}", api_key="k", model="m")._client
    assert str(client.base_url) == "https://r.azure.com/openai/"


def test_azure_behind_a_gateway_keeps_the_gateways_path():
    client = Endpoint(provider="azure", base_url="https://openai/team/openai/v1", api_key="k", model="m")._client
    assert str(client.base_url) == "https://openai/team/openai/"


def test_gemini_at_another_address(embedding_server):
    send(Endpoint(provider="gemini", base_url=embedding_server.url, api_key="g-1", model="gemini-embedding-001"))
    assert embedding_server.requests[0].headers["authorization"] == "Bearer g-1"


def test_the_addresses_of_the_providers():
    assert str(connect(Configuration("default", "openai", api_key="k"))._client.base_url) == OPENAI_URL
    assert str(connect(Configuration("default", "gemini", api_key="k"))._client.base_url) == GEMINI_URL


def test_models_that_are_used_when_none_is_named():
    assert connect(Configuration("default", "openai", api_key="k")).model == "text-embedding-3-small"
    assert connect(Configuration("default", "gemini", api_key="k")).model == "gemini-embedding-001"


def test_a_server_of_ones_own_needs_no_key(embedding_server):
    assert send(Endpoint(provider="openai", base_url=embedding_server.url, api_key="", model="m"))


@pytest.mark.parametrize(
    ("provider", "base_url"), [("openai", ""), ("gemini", ""), ("azure", "https://resource.openai.azure.com")]
)
def test_a_missing_key_is_named_before_anything_is_sent(provider, base_url):
    with pytest.raises(ProviderUnavailable, match="EMBEDDINGS_API_KEY") as caught:
        send(Endpoint(provider=provider, base_url=base_url, api_key="", model="m"))
    assert caught.value.permanent


@pytest.mark.parametrize("provider", ["openai", "azure"])
def test_the_environment_of_the_client_is_not_used(embedding_server, monkeypatch, provider):
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "AZURE_OPENAI_API_KEY",
        "AZURE_OPENAI_AD_TOKEN",
    ):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Extra: from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9/")
    monkeypatch.setenv("OPENAI_API_VERSION", "from-the-environment")
    api_key = "" if provider == "openai" else "azure-1"
    send(Endpoint(provider=provider, base_url=embedding_server.url, api_key=api_key, model="m"))
    request = embedding_server.requests[0]
    assert "from-the-environment" not in f"{request.path} {request.headers}"
