"""The embedding models that the settings describe: the default one, and further ones by name.

    EMBEDDINGS_PROVIDER=local                # "default"
    EMBEDDINGS_FURTHER=large
    EMBEDDINGS_LARGE_PROVIDER=openai         # "large"
    EMBEDDINGS_LARGE_MODEL=text-embedding-3-large

Which of them searches use is a row in the database (`memories.services.searched_model`); keys and addresses stay here.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from core.errors import ProviderUnavailable
from memories.embedding.registry import DEFAULT_MODELS, ModelSpec, find_spec

logger = logging.getLogger(__name__)

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

    @property
    def directory(self) -> Path | None:
        """Where an ONNX model of one's own is; None for the one that is exported, and for other providers."""
        return Path(self.model).expanduser() if self.provider == "onnx" and self.model else None

    def spec(self, known_width: int | None = None) -> ModelSpec | None:
        """The model at its width, or at `known_width` where the settings name none and the registry knows none.

        Raises `ProviderUnavailable` for an ONNX model that is not there.
        """
        if self.provider == "onnx":
            # Its packages are looked at only where such a model is configured.
            from memories.embedding.onnx.engine import directory_spec
            from memories.embedding.onnx.export import exported_spec

            if self.directory is None:
                return exported_spec()
            return directory_spec(self.directory, self.dimensions or known_width)
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
        try:
            spec = configuration.spec(dimensions)
        except ProviderUnavailable as error:
            logger.warning("%s", error.message)
            continue
        if spec is not None and (spec.slug, spec.dimensions) == (slug, dimensions):
            yield configuration
