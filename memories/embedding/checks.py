"""Refusing wrong provider settings when a process starts, with the name of the variable and what is allowed."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from memories.embedding.local import engine_problem
from memories.embedding.registry import DEFAULT_MODELS, LOCAL_MODEL, MAXIMUM_DIMENSIONS, is_reducible, known_dimensions

PROVIDERS = ("local", "openai", "azure", "gemini", "none")


def validate_embedding_settings() -> None:
    """Raises `ImproperlyConfigured` for settings that cannot work; asks no provider and loads no model.

    A missing EMBEDDINGS_API_KEY is not refused: the server runs, and the calls that need it say so.
    """
    provider = settings.EMBEDDINGS_PROVIDER
    if provider not in PROVIDERS:
        raise ImproperlyConfigured(f"EMBEDDINGS_PROVIDER must be one of {', '.join(PROVIDERS)}, not {provider!r}.")
    if provider == "none":
        return
    _check_numbers()
    if provider == "local":
        _check_local()
    else:
        _check_remote(provider)


def _check_numbers() -> None:
    dimensions, threads = settings.EMBEDDINGS_DIMENSIONS, settings.EMBEDDINGS_THREADS
    if dimensions is not None and not 1 <= dimensions <= MAXIMUM_DIMENSIONS:
        raise ImproperlyConfigured(
            f"EMBEDDINGS_DIMENSIONS must be between 1 and {MAXIMUM_DIMENSIONS}, or unset for the model's own width, "
            f"not {dimensions}."
        )
    if threads < 0:
        raise ImproperlyConfigured(
            f"EMBEDDINGS_THREADS must be 0 (the engine decides) or a number of threads, not {threads}."
        )


def _check_local() -> None:
    model, dimensions = settings.EMBEDDINGS_MODEL, settings.EMBEDDINGS_DIMENSIONS
    if model not in ("", LOCAL_MODEL):
        raise ImproperlyConfigured(
            f"EMBEDDINGS_MODEL must be unset or {LOCAL_MODEL} with EMBEDDINGS_PROVIDER=local, not {model!r}; another "
            "model needs EMBEDDINGS_PROVIDER=openai with the EMBEDDINGS_ENDPOINT of a server that has it."
        )
    if dimensions not in (None, known_dimensions(LOCAL_MODEL)):
        raise ImproperlyConfigured(
            f"EMBEDDINGS_DIMENSIONS must be unset or {known_dimensions(LOCAL_MODEL)} with EMBEDDINGS_PROVIDER=local, "
            f"not {dimensions}."
        )
    problem = engine_problem()
    if problem:
        raise ImproperlyConfigured(
            f"EMBEDDINGS_PROVIDER=local cannot run here: {problem}. Set EMBEDDINGS_PROVIDER to openai, azure or gemini "
            "(or none, to search by words only)."
        )


def _check_remote(provider: str) -> None:
    model, endpoint = settings.EMBEDDINGS_MODEL, settings.EMBEDDINGS_ENDPOINT
    if not endpoint:
        if provider == "azure":
            raise ImproperlyConfigured(
                "EMBEDDINGS_ENDPOINT must be set with EMBEDDINGS_PROVIDER=azure, such as "
                "https://RESOURCE.openai.azure.com."
            )
    else:
        _check_endpoint(endpoint)
        if provider == "openai" and not model:
            raise ImproperlyConfigured(
                "EMBEDDINGS_MODEL must name the model that the server at EMBEDDINGS_ENDPOINT is to use."
            )
    if provider == "azure" and not model:
        raise ImproperlyConfigured(
            "EMBEDDINGS_MODEL must be the name of the deployment with EMBEDDINGS_PROVIDER=azure."
        )
    _check_width(model or DEFAULT_MODELS.get(provider, ""))


def _check_endpoint(endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
        absolute = parts.scheme in ("http", "https") and bool(parts.hostname)
        # Reading the port is what finds a wrong one.
        absolute = absolute and (parts.port is None or parts.port > 0)
    except ValueError:
        absolute = False
    if not absolute:
        raise ImproperlyConfigured(
            "EMBEDDINGS_ENDPOINT must be an absolute http or https URL, such as http://localhost:11434/v1."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ImproperlyConfigured(
            "EMBEDDINGS_ENDPOINT must hold no user name, password, query or fragment; a key belongs into "
            "EMBEDDINGS_API_KEY."
        )


def _check_width(model: str) -> None:
    dimensions, own = settings.EMBEDDINGS_DIMENSIONS, known_dimensions(model)
    if dimensions is None or own is None or dimensions == own:
        return
    if not is_reducible(model):
        raise ImproperlyConfigured(f"EMBEDDINGS_DIMENSIONS must be unset or {own} for {model}, not {dimensions}.")
    if dimensions > own:
        raise ImproperlyConfigured(f"EMBEDDINGS_DIMENSIONS must be at most {own} for {model}, not {dimensions}.")
