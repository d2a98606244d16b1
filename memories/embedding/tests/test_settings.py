"""Wrong provider settings stop the start with the name of the variable."""

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from memories.embedding import checks
from memories.embedding.checks import PROVIDERS, validate_embedding_settings
from memories.embedding.local import engine_problem
from memories.embedding.service import get_embedder

ENDPOINT = "http://localhost:11434/v1"


@pytest.fixture
def configure(settings):
    def set_all(provider, endpoint="", model="", dimensions=None, threads=0):
        settings.EMBEDDINGS_PROVIDER = provider
        settings.EMBEDDINGS_ENDPOINT = endpoint
        settings.EMBEDDINGS_API_KEY = ""
        settings.EMBEDDINGS_MODEL = model
        settings.EMBEDDINGS_DIMENSIONS = dimensions
        settings.EMBEDDINGS_THREADS = threads

    return set_all


@pytest.mark.parametrize(
    "values",
    [
        {"provider": "local"},
        {"provider": "local", "model": "multilingual-e5-small", "dimensions": 384, "threads": 2},
        {"provider": "none", "endpoint": "nonsense"},
        {"provider": "openai"},
        {"provider": "openai", "model": "text-embedding-3-large", "dimensions": 1024},
        {"provider": "openai", "endpoint": ENDPOINT, "model": "anything"},
        {"provider": "azure", "endpoint": "https://r.openai.azure.com", "model": "deployment", "dimensions": 1},
        {"provider": "gemini", "dimensions": 768},
    ],
)
def test_settings_that_can_work_pass_without_a_key(configure, values):
    configure(**values)
    validate_embedding_settings()


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        ({"provider": ""}, "EMBEDDINGS_PROVIDER"),
        ({"provider": "opena1"}, "EMBEDDINGS_PROVIDER"),
        ({"provider": "local", "model": "text-embedding-3-small"}, "EMBEDDINGS_MODEL"),
        ({"provider": "local", "dimensions": 1536}, "EMBEDDINGS_DIMENSIONS"),
        ({"provider": "local", "threads": -1}, "EMBEDDINGS_THREADS"),
        ({"provider": "openai", "dimensions": 0}, "EMBEDDINGS_DIMENSIONS"),
        ({"provider": "openai", "dimensions": -3}, "EMBEDDINGS_DIMENSIONS"),
        ({"provider": "openai", "dimensions": 4001}, "EMBEDDINGS_DIMENSIONS"),
        ({"provider": "openai", "dimensions": 3072}, "EMBEDDINGS_DIMENSIONS"),
        ({"provider": "openai", "model": "text-embedding-3-small", "dimensions": 3072}, "EMBEDDINGS_DIMENSIONS"),
        ({"provider": "openai", "model": "text-embedding-ada-002", "dimensions": 512}, "EMBEDDINGS_DIMENSIONS"),
        ({"provider": "openai", "endpoint": ENDPOINT}, "EMBEDDINGS_MODEL"),
        ({"provider": "azure", "model": "deployment"}, "EMBEDDINGS_ENDPOINT"),
        ({"provider": "azure", "endpoint": "https://r.openai.azure.com"}, "EMBEDDINGS_MODEL"),
    ],
)
def test_settings_that_cannot_work_are_named(configure, values, variable):
    configure(**values)
    with pytest.raises(ImproperlyConfigured, match=f"^{variable} "):
        validate_embedding_settings()


@pytest.mark.parametrize(
    "endpoint",
    [
        "localhost:11434",
        "/v1",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://[::1/v1",
        "https://user:secret@host/v1",
        "https://host/v1?key=secret",
    ],
)
def test_an_endpoint_is_an_absolute_address_without_secrets(configure, endpoint):
    configure("openai", endpoint=endpoint, model="m")
    with pytest.raises(ImproperlyConfigured, match=r"^EMBEDDINGS_ENDPOINT ") as caught:
        validate_embedding_settings()
    assert "secret" not in str(caught.value)


def test_a_machine_without_the_local_engine_is_told_what_to_choose(configure, monkeypatch):
    configure("local")
    monkeypatch.setattr(checks, "engine_problem", lambda: "there is none")
    with pytest.raises(ImproperlyConfigured, match=r"^EMBEDDINGS_PROVIDER.*there is none.*openai"):
        validate_embedding_settings()


def test_the_engine_is_looked_for_without_loading_it(monkeypatch):
    assert engine_problem() is None
    monkeypatch.setattr("memories.embedding.local._ENGINE_PATTERN", "no-such-file")
    assert "platform" in engine_problem()
    monkeypatch.setattr("memories.embedding.local.find_module", lambda name: None)
    assert "not installed" in engine_problem()


def test_every_provider_is_allowed_by_name(configure):
    for provider in PROVIDERS:
        configure(provider, endpoint=ENDPOINT, model="" if provider in ("local", "onnx") else "m")
        validate_embedding_settings()


def test_none_means_no_embedder(configure):
    configure("none")
    assert get_embedder() is None


def test_a_wrong_setting_stops_the_process():
    environment = {**os.environ, "EMBEDDINGS_PROVIDER": "opena1"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "EMBEDDINGS_PROVIDER must be one of local, onnx, openai, azure, gemini, none, not 'opena1'." in done.stderr


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        ({"provider": ""}, "EMBEDDINGS_LARGE_PROVIDER"),
        ({"provider": "none"}, "EMBEDDINGS_LARGE_PROVIDER"),
        ({"provider": "openai", "endpoint": "nonsense", "model": "m"}, "EMBEDDINGS_LARGE_ENDPOINT"),
        ({"provider": "azure"}, "EMBEDDINGS_LARGE_ENDPOINT"),
        ({"provider": "openai", "dimensions": 9999}, "EMBEDDINGS_LARGE_DIMENSIONS"),
    ],
)
def test_settings_of_a_further_model_are_named_too(settings, values, variable):
    settings.EMBEDDINGS_FURTHER = {"large": values}
    with pytest.raises(ImproperlyConfigured, match=f"^{variable} "):
        validate_embedding_settings()


@pytest.mark.parametrize("name", ["default", "a-b", "1st", "ä"])
def test_a_name_that_can_name_no_settings_stops_the_process(name):
    environment = {**os.environ, "EMBEDDINGS_FURTHER": name}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "EMBEDDINGS_FURTHER must list" in done.stderr


def test_further_models_are_read_from_the_environment():
    environment = {
        **os.environ,
        "EMBEDDINGS_FURTHER": "large, Small",
        "EMBEDDINGS_LARGE_PROVIDER": "OpenAI",
        "EMBEDDINGS_LARGE_MODEL": "text-embedding-3-large",
        "EMBEDDINGS_SMALL_PROVIDER": "gemini",
        "EMBEDDINGS_SMALL_DIMENSIONS": "768",
    }
    code = (
        "import django; django.setup();"
        "from memories.embedding.configurations import configurations;"
        "print([configuration.spec().slug for configuration in configurations().values()])"
    )
    environment["DJANGO_SETTINGS_MODULE"] = "memory_site.settings"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "openai:text-embedding-3-large@3072" in done.stdout, done.stderr
    assert "gemini:gemini-embedding-001@768" in done.stdout
