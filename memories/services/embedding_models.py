"""Changing the embedding model while everybody goes on searching: add, backfill, compare, switch, and back.

    model = add_model("large")              # the settings EMBEDDINGS_LARGE_…; its provider is asked once
    start_backfill(model)                   # the worker embeds what is there (`memories.services.backfill`)
    switch_to(model)                        # from now on every process searches by it; the one before stays ready
    roll_back()                             # or:
    drop_model(find_model("default"))       # its vectors, debts and indexes

Vectors of different models are never compared: each search uses those of one model, at the width that it has.
"""

from contextlib import suppress
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone

from core.errors import Conflict, Invalid, NotFound, ProviderUnavailable
from core.text import excerpt
from memories.embedding.configurations import configurations, configurations_of
from memories.embedding.service import get_embedder
from memories.models import EmbeddingIndex, EmbeddingModel, Memory, ModelState, PendingEmbedding
from memories.search.index import drop_indexes_of
from memories.services.embeddings import INTERRUPTED, owe_missing_to
from memories.services.queue import request_embedding, request_tending
from memories.services.searched_model import active_model, embedder_of, note_problem
from spaces.access import SpaceAccess
from spaces.isolation import bound, every_space

# What a provider is asked to see that it answers, and with vectors of which width.
_PROBE = "The width of this answer is what counts."
# Rows that one statement deletes: searches and saves go on in between.
_DROPPED_AT_ONCE = 20_000


@dataclass(frozen=True)
class ModelStatus:
    """How far a model is. Counts are of active memories in all spaces, and of indexes that large spaces have.

    `remaining` memories have no vector of it yet; `failing` of these were tried in vain. `seconds_left` is None while
    nothing is being embedded, or too little was to tell. `configured_as` names the settings that describe it.
    """

    model: EmbeddingModel
    configured_as: tuple[str, ...]
    total: int
    remaining: int
    failing: int
    indexes: int
    indexes_ready: int
    seconds_left: float | None

    @property
    def done(self) -> int:
        return self.total - self.remaining

    @property
    def minutes_left(self) -> int | None:
        return None if self.seconds_left is None else max(round(self.seconds_left / 60), 1)


def list_models() -> list[EmbeddingModel]:
    """All models, the one searched by first. The settings' default model is among them from its first use on."""
    return sorted(EmbeddingModel.objects.all(), key=lambda row: (row.state != ModelState.SEARCHED, row.id))


def find_model(name: str) -> EmbeddingModel:
    """The model of that name: its slug, its number, or the name of the settings that describe it.

    Raises `NotFound` with the names there are.
    """
    rows = list_models()
    for row in rows:
        if name in (row.slug, str(row.id)):
            return row
    for row in rows:
        if name.lower() in (configuration.name for configuration in configurations_of(row.slug, row.dimensions)):
            return row
    known = ", ".join(row.slug for row in rows) or "none yet"
    raise NotFound(f"There is no embedding model “{excerpt(name, 60)}”; there are: {known}.")


def add_model(name: str) -> EmbeddingModel:
    """The model that the settings of that name describe, asked once to see that it answers with the width it has.

    Nothing is embedded by it yet. Raises `NotFound` for a name without settings, `Conflict` when it was added before,
    and `ProviderUnavailable` when it does not answer or with another width.
    """
    configuration = configurations().get(name.lower())
    if configuration is None:
        raise NotFound(
            f"No settings describe an embedding model “{excerpt(name, 60)}”; there are: {', '.join(configurations())} "
            "(EMBEDDINGS_FURTHER lists the names of more)."
        )
    embedder = get_embedder(configuration)
    if embedder is None:
        raise Invalid("EMBEDDINGS_PROVIDER is none: embeddings are turned off.")
    embedder.embed_query(_PROBE)
    embedder.embed_passages([_PROBE])
    # The settings' default model is searched by when none is; one that does not answer must not stand in the way.
    with suppress(ProviderUnavailable):
        active_model()
    row, created = EmbeddingModel.objects.get_or_create(
        slug=embedder.spec.slug, defaults={"dimensions": embedder.spec.dimensions, "state": ModelState.ADDED}
    )
    if not created:
        raise Conflict(
            f"“{configuration.name}” describes {row.slug}, which is there already ({row.get_state_display()}): nothing "
            "is to be added."
        )
    return row


def start_backfill(model: EmbeddingModel, *, per_minute: int = 0) -> EmbeddingModel:
    """Let the worker embed every memory that `model` lacks, and from now on embed new ones by it too.

    `per_minute` memories at most, 0 for as fast as it goes; called again it changes that. Raises `Conflict` for the
    model that is searched by, or one that is being dropped, and `ProviderUnavailable` when it is not configured.
    """
    if per_minute < 0:
        raise Invalid(f"The memories a minute must be 0 (no limit) or more, not {per_minute}.")
    embedder_of(model)
    with transaction.atomic():
        row = _locked(model)
        if row.state == ModelState.SEARCHED:
            raise Conflict(f"{row.slug} is searched by; what it lacks is embedded by itself.")
        _refuse_dropping(row)
        if row.state != ModelState.BACKFILLING:
            row.speed = None
        row.state = ModelState.BACKFILLING
        row.per_minute = per_minute
        row.next_batch_at = timezone.now()
        row.save()
        request_tending(row.id)
    return row


def retire_model(model: EmbeddingModel) -> EmbeddingModel:
    """Keep the vectors of `model`, but embed nothing more by it: ends a backfill, or what a second model costs.

    Raises `Conflict` for the model that is searched by, or one that is being dropped.
    """
    with transaction.atomic():
        row = _locked(model)
        if row.state == ModelState.SEARCHED:
            raise Conflict(f"{row.slug} is searched by; switch to another model first.")
        _refuse_dropping(row)
        row.state = ModelState.RETIRED
        row.save(update_fields=["state"])
    with every_space():
        PendingEmbedding.objects.filter(model_id=row.id).delete()
    return row


def switch_to(model: EmbeddingModel, *, incomplete: bool = False) -> EmbeddingModel:
    """Search by `model` from now on, in every process; the one before is kept ready, to go back to.

    A model that is not ready is refused unless `incomplete` allows that what it lacks is found by words only until it
    is embedded. Its provider is asked first. Raises `Conflict` and `ProviderUnavailable`.
    """
    embedder = embedder_of(model)
    embedder.embed_query(_PROBE)
    with transaction.atomic():
        rows = {row.id: row for row in EmbeddingModel.objects.select_for_update().order_by("id")}
        row = rows.get(model.id)
        if row is None:
            raise NotFound(f"The embedding model {model.slug} was dropped a moment ago.")
        if row.state == ModelState.SEARCHED:
            raise Conflict(f"{row.slug} is searched by already.")
        _refuse_dropping(row)
        if row.state != ModelState.READY and not incomplete:
            raise Conflict(
                f"{row.slug} is not complete ({row.get_state_display()}); backfill it first, or allow searches to find "
                "by words only what it lacks (--incomplete)."
            )
        for other in rows.values():
            if other.state == ModelState.SEARCHED:
                other.state = ModelState.READY
                other.replaced_at = timezone.now()
                other.save(update_fields=["state", "replaced_at"])
        row.state = ModelState.SEARCHED
        row.replaced_at = None
        row.problem = ""
        row.save(update_fields=["state", "replaced_at", "problem"])
    # Searches tell at once how much of it is missing.
    while owe_missing_to(row.id, _DROPPED_AT_ONCE):
        pass
    request_embedding()
    return row


def roll_back() -> EmbeddingModel:
    """Search by the model again that was searched by before. Raises `Conflict` when there is none, or it is incomplete,
    and `ProviderUnavailable` when it does not answer."""
    before = (
        EmbeddingModel.objects.filter(replaced_at__isnull=False)
        .exclude(state=ModelState.SEARCHED)
        .order_by("-replaced_at")
        .first()
    )
    if before is None:
        raise Conflict("No other embedding model was searched by before.")
    return switch_to(before)


def start_dropping(model: EmbeddingModel) -> EmbeddingModel:
    """Let the worker remove `model` with its vectors, debts and indexes. Raises `Conflict` for the one searched by."""
    with transaction.atomic():
        row = _locked(model)
        if row.state == ModelState.SEARCHED:
            raise Conflict(f"{row.slug} is searched by; switch to another model first.")
        row.state = ModelState.DROPPING
        row.save(update_fields=["state"])
        request_tending(row.id)
    return row


def drop_model(model: EmbeddingModel) -> int:
    """Remove `model` with its vectors, debts and indexes, here and now; returns how many vectors there were.

    What was interrupted is taken up by the worker. Raises `Conflict` for the model that is searched by.
    """
    row = start_dropping(model)
    # First, so that the rows go without being taken out of it one by one.
    drop_indexes_of(row.id)
    number = 0
    while deleted := _delete_some(row.id):
        number += deleted
    with every_space():
        # Waits for saves under way that owe it an embedding.
        EmbeddingModel.objects.select_for_update().filter(id=row.id).first()
        PendingEmbedding.objects.filter(model_id=row.id).delete()
        EmbeddingIndex.objects.filter(model_id=row.id).delete()
        EmbeddingModel.objects.filter(id=row.id).delete()
    return number


def model_status(model: EmbeddingModel) -> ModelStatus:
    """How far `model` is. Compares every memory with its vectors: for one model's page, not for lists."""
    with every_space():
        total = Memory.objects.filter(is_active=True).count()
        remaining = _lacking(model.id)
        debts = PendingEmbedding.objects.filter(model_id=model.id)
        failing = debts.exclude(reason__in=("", INTERRUPTED)).count()
        indexes = list(EmbeddingIndex.objects.filter(model_id=model.id).values_list("is_ready", flat=True))
    left = None
    if model.state == ModelState.BACKFILLING and model.speed:
        left = remaining / model.speed
    return ModelStatus(
        model=model,
        configured_as=tuple(c.name for c in configurations_of(model.slug, model.dimensions)),
        total=total,
        remaining=remaining,
        failing=failing,
        indexes=len(indexes),
        indexes_ready=sum(indexes),
        seconds_left=left,
    )


def lacking_memories(model: EmbeddingModel, space: SpaceAccess) -> int:
    """How many active memories of a space `model` has not embedded."""
    with bound(space):
        return _lacking(model.id)


def check_model(model: EmbeddingModel) -> str:
    """Ask the provider of `model` now; "" when it answers as it should, else what is wrong. Kept for administrators."""
    problem = ""
    try:
        embedder_of(model).embed_query(_PROBE)
    except ProviderUnavailable as error:
        problem = error.message
    note_problem(model.id, problem)
    return problem


def _lacking(model_id: int) -> int:
    """In the spaces that are bound."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) FROM memories_memory m WHERE m.is_active AND NOT EXISTS (
                SELECT FROM memories_embedding e
                WHERE e.space_id = m.space_id AND e.model_id = %s AND e.memory_id = m.id)
            """,
            [model_id],
        )
        ((lacking,),) = cursor.fetchall()
    return int(lacking)


def _locked(model: EmbeddingModel) -> EmbeddingModel:
    row = EmbeddingModel.objects.select_for_update().filter(id=model.id).first()
    if row is None:
        raise NotFound(f"The embedding model {model.slug} was dropped a moment ago.")
    return row


def _refuse_dropping(row: EmbeddingModel) -> None:
    if row.state == ModelState.DROPPING:
        raise Conflict(f"{row.slug} is being removed; add it again when that is done.")


def _delete_some(model_id: int) -> int:
    with every_space(), connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM memories_embedding e USING (SELECT space_id, memory_id, chunk FROM memories_embedding"
            " WHERE model_id = %(model)s LIMIT %(limit)s) AS part WHERE e.model_id = %(model)s"
            " AND e.space_id = part.space_id AND e.memory_id = part.memory_id AND e.chunk = part.chunk",
            {"model": model_id, "limit": _DROPPED_AT_ONCE},
        )
        return int(cursor.rowcount)
