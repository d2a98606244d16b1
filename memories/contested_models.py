"""What was decided about contested pairs; part of `memories.models`."""

import uuid
from typing import Literal, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiKey, User
from documents.models import Surface
from spaces.models import Space, SpaceOwnedQuerySet

MAXIMUM_REASON = 500


class Decision(models.TextChoices):
    """What can be decided between two memories of which one says to update the other."""

    KEEP_BOTH = "keep_both", _("Keep both")
    SUPERSEDE = "supersede", _("Supersede the older one")
    FORGET = "forget", _("Forget one")

    @property
    def wire(self) -> Literal["keep_both", "supersede", "forget"]:
        return self.value  # type: ignore[return-value]


class ResolutionQuerySet(SpaceOwnedQuerySet):
    def standing(self) -> Self:
        """Decisions that were not taken back."""
        return self.filter(withdrawn_at__isnull=True)


class Resolution(models.Model):
    """Who decided what about a contested edge, when and why; and who took that back."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    edge = models.ForeignKey("memories.Edge", models.CASCADE, related_name="resolutions", verbose_name=_("edge"))
    decision = models.CharField(_("decision"), max_length=20, choices=Decision.choices)
    memory = models.ForeignKey(
        "memories.Memory", models.CASCADE, null=True, related_name="+", verbose_name=_("memory taken out of search")
    )
    reason = models.CharField(_("reason"), max_length=MAXIMUM_REASON)
    resolved_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("decided by")
    )
    resolved_by_key = models.ForeignKey(
        ApiKey, models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("decided with key")
    )
    resolved_via = models.CharField(_("decided via"), max_length=20, choices=Surface.choices, editable=False)
    resolved_at = models.DateTimeField(_("decided"), default=timezone.now, editable=False)
    withdrawn_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", editable=False, verbose_name=_("taken back by")
    )
    withdrawn_at = models.DateTimeField(_("taken back"), null=True, editable=False)
    withdrawn_reason = models.CharField(_("why it was taken back"), max_length=MAXIMUM_REASON, blank=True)

    objects = ResolutionQuerySet.as_manager()

    class Meta:
        verbose_name = _("resolution")
        verbose_name_plural = _("resolutions")
        constraints = (
            models.UniqueConstraint(
                fields=("space", "edge"), condition=Q(withdrawn_at__isnull=True), name="resolution_one_stands_per_edge"
            ),
            models.CheckConstraint(condition=Q(decision__in=Decision.values), name="resolution_decision_is_known"),
            models.CheckConstraint(
                condition=Q(decision=Decision.KEEP_BOTH, memory__isnull=True)
                | Q(~Q(decision=Decision.KEEP_BOTH), memory__isnull=False),
                name="resolution_takes_out_one_or_keeps_both",
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_decision_display()}: {self.reason[:80]}"
