"""Refusing wrong extraction settings when a process starts, with the name of the variable and what is allowed."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from memories.providers.checks import check_endpoint

PROVIDERS = ("openai", "azure", "gemini", "none")


def validate_extraction_settings() -> None:
    """Raises `ImproperlyConfigured` for settings that cannot work; asks no provider.

    A missing EXTRACTION_API_KEY is not refused: texts are kept whole then, and their documents say why.
    """
    provider, model, endpoint = settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL, settings.EXTRACTION_ENDPOINT
    if provider not in PROVIDERS:
        raise ImproperlyConfigured(f"EXTRACTION_PROVIDER must be one of {', '.join(PROVIDERS)}, not {provider!r}.")
    if provider == "none":
        return
    if endpoint:
        check_endpoint("EXTRACTION", endpoint)
    if provider == "azure":
        if not endpoint:
            raise ImproperlyConfigured(
                "EXTRACTION_ENDPOINT must be set with EXTRACTION_PROVIDER=azure, such as "
                "https://RESOURCE.openai.azure.com."
            )
        if not model:
            raise ImproperlyConfigured(
                "EXTRACTION_MODEL must be the name of the deployment with EXTRACTION_PROVIDER=azure."
            )
    if provider == "openai" and endpoint and not model:
        raise ImproperlyConfigured(
            "EXTRACTION_MODEL must name the model that the server at EXTRACTION_ENDPOINT is to use."
        )
