"""Which embedding model searches use, and which ones embed what is saved: rows, the same for every process.

    model = active_model()                # to save: its row is made on first use, from the settings' default model
    embedder = searched_embedder()        # to search: writes nothing

A model is found among the settings by its slug. One that no setting describes any more cannot be asked, and nothing
takes its place by itself: searches go on by words, and say so, until it is configured again or another one was filled
and switched to.
"""

import logging
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, transaction

from core.errors import ProviderUnavailable
from core.text import excerpt
from memories.embedding.base import Embedder
from memories.embedding.configurations import configurations_of
from memories.embedding.service import get_embedder
from memories.models import EmbeddingModel, ModelState

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ActiveModel:
    """An embedding model in use: its row and the engine behind it. `problem` is what its row said when it was read."""

    row_id: int
    embedder: Embedder
    problem: str = ""


def active_model() -> ActiveModel | None:
    """The model that searches use, or None when embeddings are turned off. Its row is made on first use.

    Raises `ProviderUnavailable` when it is not configured any more, or its engine cannot be loaded.
    """
    if settings.EMBEDDINGS_PROVIDER == "none":
        return None
    return usable(_searched_row() or _first_searched())


def searched_embedder() -> Embedder | None:
    """The engine of `active_model()`, for reading: where no model is searched by yet, the settings' default one."""
    if settings.EMBEDDINGS_PROVIDER == "none":
        return None
    row = _searched_row()
    return embedder_of(row) if row is not None else get_embedder()


def usable(row: EmbeddingModel) -> ActiveModel:
    """A model with its engine. Raises `ProviderUnavailable` as `active_model` does."""
    return ActiveModel(row_id=row.id, embedder=embedder_of(row), problem=row.problem)


def embedder_of(row: EmbeddingModel) -> Embedder:
    """The engine of a model. Raises `ProviderUnavailable` (permanent) when no setting describes it."""
    for configuration in configurations_of(row.slug, row.dimensions):
        embedder = get_embedder(configuration, row.dimensions)
        if embedder is not None:
            return embedder
    raise ProviderUnavailable(
        f"The embedding model {row.slug} is not configured any more; configure it again, or add, backfill and switch "
        "to another one (manage.py embedding_models).",
        permanent=True,
    )


def complete_models() -> list[ActiveModel]:
    """The model that is searched by, and those that are ready to be, as far as they can be asked."""
    if settings.EMBEDDINGS_PROVIDER == "none":
        return []
    rows = EmbeddingModel.objects.filter(state__in=(ModelState.SEARCHED, ModelState.READY))
    models = []
    try:
        found = sorted(rows, key=lambda row: (row.state != ModelState.SEARCHED, row.id)) or [_first_searched()]
    except ProviderUnavailable as error:
        logger.warning("%s", error.message)
        return []
    for row in found:
        try:
            models.append(usable(row))
        except ProviderUnavailable as error:
            logger.warning("%s", error.message)
    return models


def note_problem(model_id: int, problem: str) -> None:
    """Keep what a provider said that another try cannot cure, for administrators; "" when it works again."""
    EmbeddingModel.objects.filter(id=model_id).exclude(problem=excerpt(problem, 500)).update(
        problem=excerpt(problem, 500)
    )


def searched_problem() -> str | None:
    """Why searches by meaning do not work, in one sentence for administrators, or None. Asks no provider."""
    if settings.EMBEDDINGS_PROVIDER == "none":
        return None
    try:
        row = _searched_row()
        if row is None:
            # Nobody has asked for one yet.
            return None
        embedder_of(row)
    except ProviderUnavailable as error:
        return error.message
    return row.problem or None


def _searched_row() -> EmbeddingModel | None:
    return EmbeddingModel.objects.filter(state=ModelState.SEARCHED).first()


def _first_searched() -> EmbeddingModel:
    """The settings' default model becomes the one that is searched by; unless another process was faster."""
    embedder = get_embedder()
    if embedder is None:
        raise LookupError("embeddings are turned off")
    try:
        with transaction.atomic():
            row, _ = EmbeddingModel.objects.get_or_create(
                slug=embedder.spec.slug, defaults={"dimensions": embedder.spec.dimensions}
            )
            row.state = ModelState.SEARCHED
            row.save(update_fields=["state"])
            return row
    except IntegrityError:
        return EmbeddingModel.objects.get(state=ModelState.SEARCHED)
