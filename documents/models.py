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


class Surface(models.TextChoices):
    """The way a row came in."""

    MCP = "mcp", "MCP"
    REST = "rest", "REST"
    WEB = "web", _("Web")
    ADMIN = "admin", _("Admin")
    COMMAND = "command", _("Command")


class Status(models.IntegerChoices):
    """How far a document has been processed."""

    PENDING = 0, _("Pending")
    PROCESSED = 1, _("Processed")
    FAILED = 2, _("Failed")

    @property
    def wire(self) -> Literal["Pending", "Processed", "Failed"]:
        return self.name.capitalize()  # type: ignore[return-value]


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
    """A text in a space. `raw_content` is what was stored (for a PDF: the text read from it, never the bytes)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="documents", verbose_name=_("space"))
    title = models.CharField(_("title"), max_length=MAXIMUM_TITLE)
    doc_type = models.CharField(_("type"), max_length=MAXIMUM_DOC_TYPE)
    status = models.SmallIntegerField(_("status"), choices=Status.choices, default=Status.PROCESSED)
    summary = models.TextField(_("summary"), null=True, blank=True)  # noqa: DJ001 - absent and empty differ on the wire
    raw_content = models.TextField(_("content"), blank=True)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ("-updated_at", "-id")
        indexes = (models.Index(fields=("space", "-updated_at", "-id"), name="document_by_update"),)
        constraints = (models.CheckConstraint(condition=Q(status__in=Status.values), name="document_status_is_known"),)

    def __str__(self) -> str:
        return self.title
