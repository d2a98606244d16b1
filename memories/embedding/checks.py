"""Refusing wrong provider settings when a process starts, with the name of the variable and what is allowed."""

from django.core.exceptions import ImproperlyConfigured

from memories.embedding.configurations import DEFAULT, Configuration, configurations
from memories.embedding.local import engine_problem
from memories.embedding.registry import LOCAL_MODEL, MAXIMUM_DIMENSIONS, is_reducible, known_dimensions
from memories.providers.checks import check_endpoint

PROVIDERS = ("local", "onnx", "openai", "azure", "gemini", "none")


def validate_embedding_settings() -> None:
    """Raises `ImproperlyConfigured` for settings that cannot work; asks no provider and loads no model.

    A missing EMBEDDINGS_API_KEY is not refused: the server runs, and the calls that need it say so.
    """
    for configuration in configurations().values():
        try:
            _check(configuration)
        except ImproperlyConfigured as error:
            raise ImproperlyConfigured(str(error).replace("EMBEDDINGS_", configuration.prefix)) from None


def _check(configuration: Configuration) -> None:
    """Messages name the variables of the default model."""
    allowed = PROVIDERS if configuration.name == DEFAULT else PROVIDERS[:-1]
    if configuration.provider not in allowed:
        raise ImproperlyConfigured(
            f"EMBEDDINGS_PROVIDER must be one of {', '.join(allowed)}, not {configuration.provider!r}."
        )
    if configuration.provider == "none":
        return
    _check_numbers(configuration)
    if configuration.provider == "local":
        _check_local(configuration)
    elif configuration.provider == "onnx":
        _check_onnx(configuration)
    else:
        _check_remote(configuration)


def _check_numbers(configuration: Configuration) -> None:
    dimensions, threads = configuration.dimensions, configuration.threads
    if dimensions is not None and not 1 <= dimensions <= MAXIMUM_DIMENSIONS:
        raise ImproperlyConfigured(
            f"EMBEDDINGS_DIMENSIONS must be between 1 and {MAXIMUM_DIMENSIONS}, or unset for the model's own width, "
            f"not {dimensions}."
        )
    if threads < 0:
        raise ImproperlyConfigured(
            f"EMBEDDINGS_THREADS must be 0 (the engine decides) or a number of threads, not {threads}."
        )


def _check_local(configuration: Configuration) -> None:
    model, dimensions = configuration.model, configuration.dimensions
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


def _check_onnx(configuration: Configuration) -> None:
    # Imported by those who use it: not every platform has what the export needs.
    from memories.embedding.onnx.engine import directory_problem, packages_problem
    from memories.embedding.onnx.export import export_problem

    problem = packages_problem()
    if problem:
        raise ImproperlyConfigured(f"EMBEDDINGS_PROVIDER=onnx cannot run here: {problem}.")
    if configuration.directory is not None:
        problem = directory_problem(configuration.directory)
        if problem:
            raise ImproperlyConfigured(f"EMBEDDINGS_MODEL must be a directory with an ONNX model, but {problem}.")
        return
    if configuration.dimensions not in (None, known_dimensions(LOCAL_MODEL)):
        raise ImproperlyConfigured(
            f"EMBEDDINGS_DIMENSIONS must be unset or {known_dimensions(LOCAL_MODEL)} with EMBEDDINGS_PROVIDER=onnx and "
            f"no EMBEDDINGS_MODEL, not {configuration.dimensions}."
        )
    problem = export_problem()
    if problem:
        raise ImproperlyConfigured(
            f"EMBEDDINGS_MODEL must be a directory with an ONNX model where EMBEDDINGS_PROVIDER=onnx: {problem}."
        )


def _check_remote(configuration: Configuration) -> None:
    provider, model, endpoint = configuration.provider, configuration.model, configuration.endpoint
    if not endpoint:
        if provider == "azure":
            raise ImproperlyConfigured(
                "EMBEDDINGS_ENDPOINT must be set with EMBEDDINGS_PROVIDER=azure, such as "
                "https://RESOURCE.openai.azure.com."
            )
    else:
        check_endpoint("EMBEDDINGS", endpoint)
        if provider == "openai" and not model:
            raise ImproperlyConfigured(
                "EMBEDDINGS_MODEL must name the model that the server at EMBEDDINGS_ENDPOINT is to use."
            )
    if provider == "azure" and not model:
        raise ImproperlyConfigured(
            "EMBEDDINGS_MODEL must be the name of the deployment with EMBEDDINGS_PROVIDER=azure."
        )
    _check_width(configuration)


def _check_width(configuration: Configuration) -> None:
    model, dimensions = configuration.model_name, configuration.dimensions
    own = known_dimensions(model)
    if dimensions is None or own is None or dimensions == own:
        return
    if not is_reducible(model):
        raise ImproperlyConfigured(f"EMBEDDINGS_DIMENSIONS must be unset or {own} for {model}, not {dimensions}.")
    if dimensions > own:
        raise ImproperlyConfigured(f"EMBEDDINGS_DIMENSIONS must be at most {own} for {model}, not {dimensions}.")
