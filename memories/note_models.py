"""What makes a memory a note (title, topic, status), and what notes and facts have beside their text.

- `MemoryTag`: one row a tag, so that notes with any of several tags come from an index;
- `SourceRef`: the mails, chats and files that a memory came from, each known once in a space;
- `Version`: what a memory said after each change, with the commit that holds it.
"""

import uuid

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiKey, User
from spaces.models import Space, SpaceOwnedQuerySet, Topic

MAXIMUM_NOTE_TITLE = 255
MAXIMUM_NOTE_SLUG = 128
MAXIMUM_NOTE_TEXT = 1_000_000
MAXIMUM_TAG = 64
MAXIMUM_TAGS = 50
MAXIMUM_SOURCE_TYPE = 32
MAXIMUM_SOURCE_REF = 512
MAXIMUM_SOURCES = 100
_MAXIMUM_FILE_PATH = 2000


class NoteStatus(models.TextChoices):
    """Whether a note still holds. An outdated one is found, and says so."""

    CURRENT = "current", _("current")
    OUTDATED = "outdated", _("outdated")


class FollowUp(models.TextChoices):
    """What is still to be done about a note."""

    OPEN = "open", _("open")
    WAITING = "waiting", _("waiting")


class Titled(models.Model):
    """The part of a memory that only notes have. A fact has no title, slug and topic, and its status never changes."""

    topic = models.ForeignKey(
        Topic, models.RESTRICT, null=True, blank=True, related_name="notes", verbose_name=_("topic")
    )
    title = models.CharField(_("title"), max_length=MAXIMUM_NOTE_TITLE, null=True, blank=True)  # noqa: DJ001
    slug = models.CharField(_("slug"), max_length=MAXIMUM_NOTE_SLUG, null=True, blank=True)  # noqa: DJ001
    status = models.CharField(_("status"), max_length=10, choices=NoteStatus.choices, default=NoteStatus.CURRENT)
    follow_up_status = models.CharField(  # noqa: DJ001
        _("follow-up"), max_length=10, choices=FollowUp.choices, null=True, blank=True
    )

    # Set where a fact was read that is known to have neither tags nor sources.
    is_bare = False

    class Meta:
        abstract = True

    @property
    def is_note(self) -> bool:
        return self.slug is not None


class MemoryTag(models.Model):
    """A tag of a memory: lower case, in the order in which they were given."""

    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    memory = models.ForeignKey("memories.Memory", models.CASCADE, related_name="tags", verbose_name=_("memory"))
    name = models.CharField(_("tag"), max_length=MAXIMUM_TAG)
    position = models.SmallIntegerField(default=0)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("tag")
        verbose_name_plural = _("tags")
        ordering = ("position", "name")
        constraints = (models.UniqueConstraint(fields=("space", "name", "memory"), name="memory_tag_once"),)

    def __str__(self) -> str:
        return self.name


class SourceRef(models.Model):
    """Something outside that a memory came from. A space knows each once: told again, it moves to the newest memory."""

    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    memory = models.ForeignKey("memories.Memory", models.CASCADE, related_name="sources", verbose_name=_("memory"))
    type = models.CharField(_("type"), max_length=MAXIMUM_SOURCE_TYPE)
    ref = models.CharField(_("reference"), max_length=MAXIMUM_SOURCE_REF)
    created_at = models.DateTimeField(_("registered"), default=timezone.now, editable=False)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("source")
        verbose_name_plural = _("sources")
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("space", "type", "ref"), name="source_once_per_space"),)

    def __str__(self) -> str:
        return f"{self.type}:{self.ref}"


class Version(models.Model):
    """What a memory said after a change. `path` is where its file stands since then, empty when it was taken away.

    The text of a fact never changes and is not repeated here.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="+", verbose_name=_("space"))
    memory = models.ForeignKey("memories.Memory", models.CASCADE, related_name="versions", verbose_name=_("memory"))
    number = models.PositiveIntegerField(_("version"))
    title = models.CharField(_("title"), max_length=MAXIMUM_NOTE_TITLE, null=True)  # noqa: DJ001
    text = models.TextField(_("text"), null=True)  # noqa: DJ001
    path = models.CharField(_("path"), max_length=_MAXIMUM_FILE_PATH, blank=True, db_collation="C")
    commit = models.CharField(_("commit"), max_length=40, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", verbose_name=_("by"))
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+", verbose_name=_("with key"))
    created_via = models.CharField(_("via"), max_length=20)
    created_at = models.DateTimeField(_("at"), default=timezone.now)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ("-number",)
        constraints = (models.UniqueConstraint(fields=("space", "memory", "number"), name="version_once_per_memory"),)

    def __str__(self) -> str:
        return f"{self.memory_id} {self.number}"
