"""The embedding models that the settings describe: the default one, and further ones by name.

    EMBEDDINGS_PROVIDER=local                # "default"
    EMBEDDINGS_FURTHER=large
    EMBEDDINGS_LARGE_PROVIDER=openai         # "large"
    EMBEDDINGS_LARGE_MODEL=text-embedding-3-large

Which of them searches use is a row in the database (`memories.services.searched_model`); keys and addresses stay here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from memories.embedding.registry import DEFAULT_MODELS, ModelSpec, find_spec

DEFAULT = "default"


@dataclass(frozen=True)
class Configuration:
    """How to reach one embedding model. `dimensions` None is the model's own width, `threads` 0 the engine's choice."""

    name: str
    provider: str
    endpoint: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    dimensions: int | None = None
    threads: int = 0

    @property
    def prefix(self) -> str:
        """What the names of its environment variables begin with."""
        return "EMBEDDINGS_" if self.name == DEFAULT else f"EMBEDDINGS_{self.name.upper()}_"

    @property
    def model_name(self) -> str:
        """The model, or what its provider takes when none is named."""
        return self.model or DEFAULT_MODELS.get(self.provider, "")

    def spec(self, known_width: int | None = None) -> ModelSpec | None:
        """The model at its width, or at `known_width` where the settings name none and the registry knows none."""
        return find_spec(self.provider, self.model_name, self.dimensions) or find_spec(
            self.provider, self.model_name, known_width
        )


def default_configuration() -> Configuration:
    """The one that is searched by when the database knows of none yet."""
    return Configuration(
        name=DEFAULT,
        provider=settings.EMBEDDINGS_PROVIDER,
        endpoint=settings.EMBEDDINGS_ENDPOINT,
        api_key=settings.EMBEDDINGS_API_KEY,
        model=settings.EMBEDDINGS_MODEL,
        dimensions=settings.EMBEDDINGS_DIMENSIONS,
        threads=settings.EMBEDDINGS_THREADS,
    )


def configurations() -> dict[str, Configuration]:
    """All of them by name, the default one first."""
    further: dict[str, dict[str, Any]] = settings.EMBEDDINGS_FURTHER
    return {DEFAULT: default_configuration()} | {
        name: Configuration(name=name, **values) for name, values in further.items()
    }


def configurations_of(slug: str, dimensions: int) -> Iterator[Configuration]:
    """Those that describe exactly this model at this width; no provider is asked."""
    for configuration in configurations().values():
        spec = configuration.spec(dimensions)
        if spec is not None and (spec.slug, spec.dimensions) == (slug, dimensions):
            yield configuration
