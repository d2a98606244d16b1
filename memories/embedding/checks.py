"""Provider settings are checked at start, so that a wrong one stops the server with its name."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

PROVIDERS = ("local", "openai", "azure", "gemini", "none")


def validate_embedding_settings() -> None:
    """Raises `ImproperlyConfigured` that names the wrong variable and what is allowed."""
    if settings.EMBEDDINGS_PROVIDER not in PROVIDERS:
        raise ImproperlyConfigured(f"EMBEDDINGS_PROVIDER must be one of {', '.join(PROVIDERS)}.")
