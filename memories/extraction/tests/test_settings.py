"""Wrong extraction settings stop a process at its start, with the name of the variable."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from memories.extraction.checks import validate_extraction_settings
from memories.extraction.service import get_extractor


def configure(settings, provider="openai", endpoint="", model="", api_key="k"):
    settings.EXTRACTION_PROVIDER = provider
    settings.EXTRACTION_ENDPOINT = endpoint
    settings.EXTRACTION_MODEL = model
    settings.EXTRACTION_API_KEY = api_key


@pytest.mark.parametrize(
    ("named", "values"),
    [
        ("EXTRACTION_PROVIDER must be one of", {"provider": "local"}),
        ("EXTRACTION_ENDPOINT must be set", {"provider": "azure", "model": "m"}),
        ("EXTRACTION_MODEL must be the name of the deployment", {"provider": "azure", "endpoint": "https://a.example"}),
        ("EXTRACTION_MODEL must name the model", {"endpoint": "http://localhost:11434/v1"}),
        ("EXTRACTION_ENDPOINT must be an absolute", {"endpoint": "localhost:11434", "model": "m"}),
        ("EXTRACTION_ENDPOINT must hold no", {"endpoint": "https://me:secret@a.example/v1", "model": "m"}),
    ],
)
def test_what_cannot_work_is_refused(settings, named, values):
    configure(settings, **values)
    with pytest.raises(ImproperlyConfigured, match=named) as caught:
        validate_extraction_settings()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"provider": "none", "endpoint": "nonsense"},
        {"api_key": ""},
        {"provider": "gemini"},
        {"provider": "azure", "endpoint": "https://a.example", "model": "m"},
        {"endpoint": "http://localhost:11434/v1", "model": "m", "api_key": ""},
    ],
)
def test_what_can_work_is_accepted(settings, values):
    configure(settings, **values)
    validate_extraction_settings()


def test_models_that_are_used_when_none_is_named(settings):
    configure(settings)
    assert get_extractor().connection.model == "gpt-4o-mini"
    configure(settings, provider="gemini")
    assert get_extractor().connection.model == "gemini-2.5-flash"
    configure(settings, provider="none")
    assert get_extractor() is None
