"""What is remembered: memories, the edges between them, and the tables that make them findable.

A `Memory` holds no vector and no words. Those live in narrow tables of their own, all led by `space_id`, which only
ever hold *active* memories:

- `Embedding`: one row a chunk and embedding model, hash-partitioned by space, no fixed width;
- `MemoryTerm`: the postings, one row a term of a memory, hash-partitioned by space;
- `VocabularyTerm`: how many memories of a space hold a term; it weighs words and finds typos;
- `SpaceStatistics`: how many active memories a space has and how many terms they hold;
- `PendingEmbedding`: memories whose embedding is still owed. It is the work list, kept in rows and never in messages.
"""

import uuid
from typing import ClassVar, Literal, Self

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from pgvector.django import HalfVectorField

from accounts.models import User
from documents.models import Attributed, Claimed, Document
from memories.contested_models import MAXIMUM_REASON as MAXIMUM_REASON
from memories.contested_models import Decision as Decision
from memories.contested_models import Resolution as Resolution
from memories.note_models import FollowUp as FollowUp
from memories.note_models import MemoryTag as MemoryTag
from memories.note_models import NoteStatus, Titled
from memories.note_models import SourceRef as SourceRef
from memories.note_models import Version as Version
from spaces.models import Space, SpaceOwnedQuerySet

MAXIMUM_CATEGORY = 100
MAXIMUM_SOURCE = 500
MAXIMUM_MEMORY = 100_000
MAXIMUM_NOTE = 500


class MemoryQuerySet(SpaceOwnedQuerySet):
    def active(self) -> "MemoryQuerySet":
        return self.filter(is_active=True)

    def notes(self) -> "MemoryQuerySet":
        """Notes that were not deleted: a deleted note is a forgotten memory."""
        return self.filter(is_active=True, slug__isnull=False)

    def facts(self) -> "MemoryQuerySet":
        """Active memories that are no notes: the same statement is among them once."""
        return self.filter(is_active=True, slug__isnull=True)

    def newest_first(self) -> "MemoryQuerySet":
        """By creation time; the id settles equal times, so that pages are stable."""
        return self.order_by("-created_at", "-id")


class Memory(Titled, Attributed):
    """One thing worth remembering: a fact, whose text never changes, or a note, which has a title in a topic.

    An update of a fact is a new memory that supersedes it; a note is edited, and `Version` keeps what it said.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="memories", verbose_name=_("space"))
    document = models.ForeignKey(
        Document, models.SET_NULL, null=True, blank=True, related_name="memories", verbose_name=_("document")
    )
    text = models.TextField(_("text"))
    category = models.CharField(_("category"), max_length=MAXIMUM_CATEGORY, null=True, blank=True)  # noqa: DJ001
    source = models.CharField(  # noqa: DJ001 - absent and empty differ on the wire
        _("source"),
        max_length=MAXIMUM_SOURCE,
        null=True,
        blank=True,
        help_text=_("Where it comes from: a conversation, a file, an address."),
    )
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    is_active = models.BooleanField(_("active"), default=True)
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="supersedes", verbose_name=_("superseded by")
    )
    # Who took it out of search, when, and why; empty again once it is restored.
    deactivated_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("forgotten by")
    )
    deactivated_at = models.DateTimeField(_("forgotten"), null=True, editable=False)
    deactivation_reason = models.CharField(_("reason"), max_length=MAXIMUM_REASON, blank=True, editable=False)
    # SHA-256 of category and text: the same fact is not remembered twice in a space.
    content_hash = models.BinaryField(max_length=32, editable=False)
    # Number of terms with repetitions: the document length of BM25.
    term_total = models.PositiveIntegerField(default=0, editable=False)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("space", "-created_at", "-id"), name="memory_by_age"),
            # Of all spaces, as superusers list them.
            models.Index(fields=("-created_at", "-id"), name="memory_newest"),
            models.Index(
                fields=("space", "-created_at", "-id"), name="memory_active_by_age", condition=Q(is_active=True)
            ),
            models.Index(
                fields=("space", "category", "-created_at", "-id"),
                name="memory_by_category",
                condition=Q(is_active=True),
            ),
            models.Index(
                fields=("space", "source", "created_at"), name="memory_by_source", condition=Q(source__isnull=False)
            ),
            models.Index(
                fields=("space", "-updated_at", "-id"),
                name="note_by_update",
                condition=Q(is_active=True, slug__isnull=False),
            ),
            models.Index(
                fields=("space", "-updated_at", "-id"),
                name="note_to_follow_up",
                condition=Q(is_active=True, follow_up_status__isnull=False),
            ),
            GinIndex(
                F("space_id"),
                OpClass("text", name="gin_trgm_ops"),
                name="memory_text_trigrams",
                condition=Q(is_active=True),
            ),
        )
        constraints = (
            models.UniqueConstraint(
                "space",
                "content_hash",
                condition=Q(is_active=True, slug__isnull=True),
                name="memory_active_text_once_per_space",
            ),
            models.UniqueConstraint(
                fields=("space", "topic", "slug"),
                condition=Q(is_active=True, slug__isnull=False),
                name="note_once_per_topic_and_slug",
            ),
            models.CheckConstraint(
                condition=Q(title__isnull=True, slug__isnull=True, topic__isnull=True)
                | Q(title__isnull=False, slug__isnull=False, topic__isnull=False),
                name="memory_note_has_title_and_topic",
            ),
            models.CheckConstraint(condition=Q(status__in=NoteStatus.values), name="memory_status_is_known"),
            models.CheckConstraint(
                condition=Q(is_active=False) | Q(deactivated_at__isnull=True, superseded_by__isnull=True),
                name="memory_active_is_not_deactivated",
            ),
        )

    def __str__(self) -> str:
        return self.title or self.text[:80]

    @property
    def embedded_text(self) -> str:
        """What is embedded: a note's title stands over its text."""
        return f"{self.title}\n\n{self.text}" if self.title else self.text


RelationWire = Literal[
    "Updates", "Extends", "Derives", "related_to", "same_as", "follow_up_of", "mentions", "causes", "fixes",
    "contradicts",
]  # fmt: skip


class RelationType(models.IntegerChoices):
    """How one memory acts on another. Among notes `UPDATES` is called `supersedes`: it is one and the same relation."""

    UPDATES = 0, _("Updates")
    EXTENDS = 1, _("Extends")
    DERIVES = 2, _("Derives")
    RELATED_TO = 3, _("is related to")
    SAME_AS = 4, _("is the same as")
    FOLLOW_UP_OF = 5, _("follows up")
    MENTIONS = 6, _("mentions")
    CAUSES = 7, _("causes")
    FIXES = 8, _("fixes")
    CONTRADICTS = 9, _("contradicts")

    @property
    def wire(self) -> RelationWire:
        """The name on the wire of memories."""
        is_of_facts = self <= RelationType.DERIVES
        return self.name.capitalize() if is_of_facts else self.name.lower()  # type: ignore[return-value]

    @property
    def link_name(self) -> str:
        """The name among notes."""
        return "supersedes" if self is RelationType.UPDATES else self.name.lower()


class EdgeQuerySet(SpaceOwnedQuerySet):
    def contested(self) -> Self:
        """Those that say a memory updates another, while both are active and nobody has decided between them.

        A note that is outdated, as by a link of people, is no more contested than a forgotten fact.
        """
        return self.filter(
            ~Exists(Resolution.objects.standing().filter(space_id=OuterRef("space_id"), edge_id=OuterRef("id"))),
            relation_type=RelationType.UPDATES,
            from_memory__is_active=True,
            to_memory__is_active=True,
            # A note that was superseded is still found, and says that it is outdated: there is nothing to decide.
            to_memory__status=NoteStatus.CURRENT,
        )

    def resolved(self) -> Self:
        """Those between whose memories somebody has decided."""
        return self.filter(
            Exists(Resolution.objects.standing().filter(space_id=OuterRef("space_id"), edge_id=OuterRef("id")))
        )


class Edge(models.Model):
    """A typed relation between two memories of one space: `from_memory` acts on `to_memory`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    from_memory = models.ForeignKey(Memory, models.CASCADE, related_name="outgoing", verbose_name=_("from"))
    to_memory = models.ForeignKey(Memory, models.CASCADE, related_name="incoming", verbose_name=_("to"))
    relation_type = models.SmallIntegerField(_("relation"), choices=RelationType.choices)
    note = models.CharField(  # noqa: DJ001
        pgettext_lazy("on an edge", "note"), max_length=MAXIMUM_NOTE, null=True, blank=True
    )
    created_by = models.ForeignKey(
        "accounts.User", models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("created by")
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    objects = EdgeQuerySet.as_manager()

    class Meta:
        verbose_name = _("edge")
        verbose_name_plural = _("edges")
        indexes = (
            models.Index(
                fields=("space", "-created_at", "-id"),
                name="edge_updates_by_age",
                condition=Q(relation_type=RelationType.UPDATES),
            ),
            # Of all spaces, as superusers list them.
            models.Index(fields=("-created_at", "-id"), name="edge_newest"),
            # In the order in which walks follow the edges of a memory, so that a hub costs no more than its newest.
            models.Index(fields=("space", "from_memory", "-created_at", "id", "relation_type"), name="edge_walk_out"),
            models.Index(fields=("space", "to_memory", "-created_at", "id", "relation_type"), name="edge_walk_in"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("space", "from_memory", "to_memory", "relation_type"), name="edge_once_per_relation"
            ),
            models.CheckConstraint(condition=~Q(from_memory=F("to_memory")), name="edge_joins_two_memories"),
            models.CheckConstraint(condition=Q(relation_type__in=RelationType.values), name="edge_relation_is_known"),
        )

    def __str__(self) -> str:
        return f"{self.from_memory_id} {self.get_relation_type_display()} {self.to_memory_id}"


class ContestedPairManager(models.Manager.from_queryset(EdgeQuerySet)):  # type: ignore[misc]
    def get_queryset(self) -> EdgeQuerySet:
        contested: EdgeQuerySet = super().get_queryset().contested()
        return contested


class ContestedPair(Edge):
    """An edge that is contested: a page of the admin lists them."""

    objects: ClassVar[ContestedPairManager] = ContestedPairManager()

    class Meta:
        proxy = True
        verbose_name = _("contested pair")
        verbose_name_plural = _("contested pairs")


class ModelState(models.TextChoices):
    """What becomes of an embedding model. New memories are embedded by it in the states of `KEPT_STATES`."""

    ADDED = "added", _("added, nothing embedded yet")
    BACKFILLING = "backfilling", _("embedding what is there")
    READY = "ready", _("complete and kept so")
    SEARCHED = "searched", _("searched by")
    RETIRED = "retired", _("kept, but new memories are not embedded")
    DROPPING = "dropping", _("being removed")


KEPT_STATES = (ModelState.SEARCHED, ModelState.BACKFILLING, ModelState.READY)


class EmbeddingModel(models.Model):
    """A model that embeds or has embedded something here; its number is what the narrow table and its indexes store.

    One at most is searched by; which one it is holds for every process at once. The settings tell how to reach it
    (`memories.embedding.configurations`); this row never does.
    """

    id = models.SmallAutoField(primary_key=True)
    slug = models.CharField(_("model"), max_length=200, unique=True)
    dimensions = models.PositiveIntegerField(_("dimensions"))
    state = models.CharField(_("state"), max_length=12, choices=ModelState.choices, default=ModelState.RETIRED)
    # When another one took its place; rolling back leads to the latest of these.
    replaced_at = models.DateTimeField(_("replaced"), null=True, blank=True, editable=False)
    # What the provider said last that another try cannot cure; empty once it worked again.
    problem = models.CharField(_("problem"), max_length=500, blank=True)
    # Memories a minute that a backfill may embed; 0 is as fast as it goes.
    per_minute = models.PositiveIntegerField(_("memories a minute"), default=0)
    # One batch runs at a time: whoever moves this into the future does the next one.
    next_batch_at = models.DateTimeField(default=timezone.now, editable=False)
    # Memories a second of the latest batches, pauses included.
    speed = models.FloatField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("embedding model")
        verbose_name_plural = _("embedding models")
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint("state", condition=Q(state="searched"), name="embedding_model_searched_once"),
            models.CheckConstraint(condition=Q(state__in=ModelState.values), name="embedding_model_state_is_known"),
        )

    def __str__(self) -> str:
        return self.slug


class Embedding(models.Model):
    """One chunk of one active memory, embedded by one model. Created by SQL: Django cannot declare partitions."""

    pk = models.CompositePrimaryKey("space_id", "model_id", "memory_id", "chunk")
    space = models.ForeignKey(Space, models.DO_NOTHING, related_name="+")
    model = models.ForeignKey(EmbeddingModel, models.DO_NOTHING, related_name="+")
    memory = models.ForeignKey(Memory, models.DO_NOTHING, related_name="embeddings")
    chunk = models.SmallIntegerField()
    embedding = HalfVectorField()

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "memories_embedding"


class EmbeddingIndex(models.Model):
    """The partial HNSW index of a large space under one model; without a ready one, the space is scanned exactly."""

    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    model = models.ForeignKey(EmbeddingModel, models.CASCADE, related_name="+", verbose_name=_("model"))
    row_count = models.BigIntegerField(_("rows"), default=0)
    name = models.CharField(_("index"), max_length=63, blank=True)
    is_ready = models.BooleanField(_("ready"), default=False)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("embedding index")
        verbose_name_plural = _("embedding indexes")
        constraints = (models.UniqueConstraint(fields=("space", "model"), name="embedding_index_once"),)

    def __str__(self) -> str:
        return self.name


class PendingEmbedding(Claimed):
    """A memory whose embedding by a model is still owed, and why the last attempt failed."""

    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    model = models.ForeignKey(EmbeddingModel, models.CASCADE, related_name="+", verbose_name=_("model"))
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="pending_embeddings", verbose_name=_("memory"))

    class Meta:
        verbose_name = _("pending embedding")
        verbose_name_plural = _("pending embeddings")
        indexes = (
            models.Index(fields=("model", "next_attempt_at"), name="pending_embedding_by_model"),
            models.Index(
                fields=("space", "model", "next_attempt_at", "id"),
                name="pending_embedding_by_turn",
                condition=Q(failed_at__isnull=True),
            ),
            models.Index(fields=("created_at", "id"), name="pending_embedding_by_age"),
        )
        constraints = (models.UniqueConstraint(fields=("space", "model", "memory"), name="pending_embedding_once"),)

    def __str__(self) -> str:
        return str(self.memory_id)


class MemoryTerm(models.Model):
    """A posting: how often a term occurs in an active memory, and how many terms that has. Created by SQL."""

    pk = models.CompositePrimaryKey("space_id", "term", "memory_id")
    space = models.ForeignKey(Space, models.DO_NOTHING, related_name="+")
    term = models.TextField()
    memory = models.ForeignKey(Memory, models.DO_NOTHING, related_name="terms")
    frequency = models.SmallIntegerField()
    length = models.SmallIntegerField()

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "memories_memoryterm"


class VocabularyTerm(models.Model):
    """A term of a space and in how many active memories it occurs. Created by SQL."""

    pk = models.CompositePrimaryKey("space_id", "term")
    space = models.ForeignKey(Space, models.DO_NOTHING, related_name="+")
    term = models.TextField()
    memory_count = models.IntegerField()

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "memories_vocabularyterm"


class SpaceStatistics(models.Model):
    """Counts over the active memories of a space, kept by the transactions that change them."""

    space = models.OneToOneField(Space, models.CASCADE, primary_key=True, related_name="statistics")
    memory_count = models.BigIntegerField(default=0)
    term_total = models.BigIntegerField(default=0)
    # By which rules the words of the space were cut (`memories.services.terms`); 1 is what had no number yet.
    words_version = models.SmallIntegerField(db_default=1, editable=False)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("space statistics")
        verbose_name_plural = _("space statistics")

    def __str__(self) -> str:
        return str(self.space_id)
