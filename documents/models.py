"""Documents: whole texts, kept as they came. Each saved memory points to the `note` document it came from."""

import uuid
from typing import Literal

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiKey, User
from spaces.models import Space, SpaceOwnedQuerySet

MAXIMUM_TITLE = 300
MAXIMUM_DOC_TYPE = 50
MAXIMUM_SUMMARY = 10_000
MAXIMUM_CONTENT = 2_000_000
MAXIMUM_REASON = 500


class Surface(models.TextChoices):
    """The way a row came in."""

    MCP = "mcp", "MCP"
    REST = "rest", "REST"
    WEB = "web", _("Web")
    ADMIN = "admin", _("Admin")
    COMMAND = "command", _("Command")
    GIT = "git", "git push"


class Status(models.IntegerChoices):
    """How far a document has been processed."""

    PENDING = 0, _("Pending")
    PROCESSED = 1, _("Processed")
    FAILED = 2, _("Failed")

    @property
    def wire(self) -> Literal["Pending", "Processed", "Failed"]:
        return self.name.capitalize()  # type: ignore[return-value]


class Stage(models.TextChoices):
    """How far one step of processing has come. `NOTHING`: it worked, and found nothing to do."""

    OFF = "Off", _("Off")
    PENDING = "Pending", _("Pending")
    DONE = "Done", _("Done")
    NOTHING = "Nothing", _("Nothing found")
    FAILED = "Failed", _("Failed")

    @property
    def wire(self) -> Literal["Off", "Pending", "Done", "Nothing", "Failed"]:
        return self.value  # type: ignore[return-value]


class Attributed(models.Model):
    """Who made a row, who changed it last, with which key and over which surface."""

    created_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("created by")
    )
    updated_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("updated by")
    )
    created_by_key = models.ForeignKey(
        ApiKey, models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("created with key")
    )
    created_via = models.CharField(
        _("created via"), max_length=20, choices=Surface.choices, default=Surface.MCP, editable=False
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated"), default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Document(Attributed):
    """A text in a space. `raw_content` is what was stored (for a PDF: the text read from it, never the bytes).

    Of a saved note, `extraction` tells how far its splitting into facts has come, `reason` why it has not come further,
    and `outcome` which memories the splitting made, superseded and contested (lists of ids, see
    `memories.services.outcome`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="documents", verbose_name=_("space"))
    title = models.CharField(_("title"), max_length=MAXIMUM_TITLE)
    doc_type = models.CharField(_("type"), max_length=MAXIMUM_DOC_TYPE)
    status = models.SmallIntegerField(_("status"), choices=Status.choices, default=Status.PROCESSED)
    summary = models.TextField(_("summary"), null=True, blank=True)  # noqa: DJ001 - absent and empty differ on the wire
    raw_content = models.TextField(_("content"), blank=True)
    extraction = models.CharField(
        _("extraction"), max_length=10, choices=Stage.choices, blank=True, default="", editable=False
    )
    reason = models.CharField(_("reason"), max_length=MAXIMUM_REASON, blank=True, default="", editable=False)
    outcome = models.JSONField(null=True, editable=False)

    # Whether its memories are found by meaning; set by the query that reads one document.
    embedding: Stage | None = None

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ("-updated_at", "-id")
        indexes = (
            models.Index(fields=("space", "-updated_at", "-id"), name="document_by_update"),
            # Of all spaces, as superusers list them.
            models.Index(fields=("-updated_at", "-id"), name="document_newest"),
        )
        constraints = (models.CheckConstraint(condition=Q(status__in=Status.values), name="document_status_is_known"),)

    def __str__(self) -> str:
        return self.title


class Claimed(models.Model):
    """Work that is kept in rows: claimed by one process at a time, for as long as its lease lasts.

    `next_attempt_at` is when the row may be claimed, for a claimed one the end of the lease. `interruptions` counts the
    claims in a row that never came to their end; `failed_at` takes the row out until somebody asks for a retry.
    """

    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    interruptions = models.PositiveIntegerField(_("interruptions"), default=0, db_default=0)
    next_attempt_at = models.DateTimeField(_("next attempt"), default=timezone.now)
    claimed_at = models.DateTimeField(_("running since"), null=True)
    failed_at = models.DateTimeField(_("failed"), null=True)
    reason = models.CharField(_("reason"), max_length=MAXIMUM_REASON, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        abstract = True


class PendingDocument(Claimed):
    """A document that is still to be processed, with what the caller said about it. It ends with the processing."""

    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    document = models.OneToOneField(Document, models.CASCADE, related_name="pending", verbose_name=_("document"))
    category = models.CharField(_("category"), max_length=100, null=True, blank=True)  # noqa: DJ001
    source = models.CharField(_("source"), max_length=500, null=True, blank=True)  # noqa: DJ001

    class Meta:
        verbose_name = _("pending document")
        verbose_name_plural = _("pending documents")
        indexes = (
            models.Index(
                fields=("space", "next_attempt_at", "id"),
                name="pending_document_by_turn",
                condition=Q(failed_at__isnull=True),
            ),
            models.Index(fields=("created_at", "id"), name="pending_document_by_age"),
        )

    def __str__(self) -> str:
        return str(self.document_id)
