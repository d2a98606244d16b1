"""What is reached: spaces (tenants), who is a member of one, and which spaces a key may use.

Membership is held by django-guardian's object permissions in their own tables with real foreign keys:
`read_space`, `write_space` and `manage_space`, given to people or to groups.
"""

import re
import uuid
from typing import TYPE_CHECKING, Any, Literal, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from accounts.models import ApiKey

if TYPE_CHECKING:
    from spaces.access import AccessContext, SpaceAccess

MAXIMUM_KEY = 100
MAXIMUM_NAME = 200
# Letters of any script, digits, and `-`, `_`, `.` inside: a key stands in URLs and in `git clone` addresses.
_KEY = re.compile(r"\w([\w.-]*\w)?")
KEY_RULE = "letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"


def validate_space_key(value: str) -> None:
    if not _KEY.fullmatch(value) or ".." in value:
        raise ValidationError(_("A space key is made of letters, digits, “-”, “_” and “.”, for example “team-notes”."))


class Language(models.TextChoices):
    """How words of a space are stemmed: PostgreSQL's own text search configurations, those with a name for people."""

    SIMPLE = "simple", _("any (no stemming)")
    ARABIC = "arabic", _("Arabic")
    DANISH = "danish", _("Danish")
    DUTCH = "dutch", _("Dutch")
    ENGLISH = "english", _("English")
    FINNISH = "finnish", _("Finnish")
    FRENCH = "french", _("French")
    GERMAN = "german", _("German")
    GREEK = "greek", _("Greek")
    HINDI = "hindi", _("Hindi")
    HUNGARIAN = "hungarian", _("Hungarian")
    ITALIAN = "italian", _("Italian")
    NORWEGIAN = "norwegian", _("Norwegian")
    PORTUGUESE = "portuguese", _("Portuguese")
    ROMANIAN = "romanian", _("Romanian")
    RUSSIAN = "russian", _("Russian")
    SPANISH = "spanish", _("Spanish")
    SWEDISH = "swedish", _("Swedish")
    TURKISH = "turkish", _("Turkish")


class Sensitivity(models.TextChoices):
    """How careful one has to be with what a space holds. It is told, and changes nobody's access."""

    LOW = "low", _("low")
    MEDIUM = "medium", _("medium")
    HIGH = "high", _("high")


class AccessLevel(models.IntegerChoices):
    """How far access to a space goes; compared with `>=`."""

    READ = 0, _("Read")
    READ_WRITE = 1, _("Read and write")

    @property
    def wire(self) -> Literal["Read", "ReadWrite"]:
        """The level as it is written on every wire."""
        return "ReadWrite" if self is AccessLevel.READ_WRITE else "Read"


class Space(models.Model):
    """A tenant. Everything that is remembered belongs to exactly one space."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.CharField(
        _("key"),
        max_length=MAXIMUM_KEY,
        unique=True,
        validators=[validate_space_key],
        help_text=_("How agents and programs name this space (their “containerTag”). Upper and lower case differ."),
    )
    name = models.CharField(_("name"), max_length=MAXIMUM_NAME)
    description = models.TextField(_("description"), blank=True, max_length=2000)
    language = models.CharField(
        _("language"),
        # The longest name that PostgreSQL gives; which there are is asked of the database (`spaces.languages`).
        max_length=63,
        default=Language.ENGLISH,
        help_text=_("The main language of its texts, for word search; search by meaning needs no language."),
    )
    sensitivity = models.CharField(
        _("sensitivity"), max_length=10, choices=Sensitivity.choices, default=Sensitivity.MEDIUM
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("space")
        verbose_name_plural = _("spaces")
        ordering = ("key",)
        permissions = (
            ("read_space", _("May read this space")),
            ("write_space", _("May write to this space")),
            ("manage_space", _("May manage this space")),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.key})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.name = self.name or self.key
        super().save(*args, **kwargs)

    def clean(self) -> None:
        super().clean()
        self.key = self.key.strip()
        self.name = self.name.strip() or self.key


class SpaceUserPermission(UserObjectPermissionBase):
    """One permission of one person on one space."""

    content_object = models.ForeignKey(Space, models.CASCADE, related_name="user_permissions")

    class Meta(UserObjectPermissionBase.Meta):
        verbose_name = _("member permission")
        verbose_name_plural = _("member permissions")


class SpaceGroupPermission(GroupObjectPermissionBase):
    """One permission of one group, and so of everybody in it, on one space."""

    content_object = models.ForeignKey(Space, models.CASCADE, related_name="group_permissions")

    class Meta(GroupObjectPermissionBase.Meta):
        verbose_name = _("group permission")
        verbose_name_plural = _("group permissions")


class SpaceGrant(models.Model):
    """A key's right to use a space: it narrows what the key's person may do there, and never widens it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    api_key = models.ForeignKey(ApiKey, models.CASCADE, related_name="grants", verbose_name=_("API key"))
    space = models.ForeignKey(Space, models.CASCADE, related_name="grants", verbose_name=_("space"))
    access_level = models.SmallIntegerField(_("access"), choices=AccessLevel.choices, default=AccessLevel.READ_WRITE)
    is_default = models.BooleanField(
        _("active space"), default=False, help_text=_("Used when a call names no space. At most one a key.")
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("space grant")
        verbose_name_plural = _("space grants")
        ordering = ("created_at", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("api_key", "space"),
                name="grant_once_per_key_and_space",
                violation_error_message=_("This key already has a grant on this space."),
            ),
            models.UniqueConstraint(
                fields=("api_key",),
                condition=Q(is_default=True),
                name="grant_at_most_one_default_per_key",
                violation_error_message=_("Only one space of a key can be its active space."),
            ),
            models.CheckConstraint(condition=Q(access_level__in=AccessLevel.values), name="grant_level_is_known"),
        )

    def __str__(self) -> str:
        return f"{self.api_key} → {self.space}"


class SpaceOwnedQuerySet(models.QuerySet[Any]):
    """Rows that belong to a space. Every read begins with one of these two questions."""

    def in_space(self, space: "SpaceAccess") -> Self:
        """Rows of one space that the caller was found to have access to."""
        return self.filter(space_id=space.id)

    def in_any_space(self, access: "AccessContext") -> Self:
        """Rows of all spaces the caller may read; none at all for a caller without spaces."""
        return self.filter(space_id__in=[space.id for space in access.spaces])


MAXIMUM_TOPIC_SLUG = 64
MAXIMUM_TOPIC_NAME = 255
MAXIMUM_TOPIC_DEPTH = 20
_MAXIMUM_PATH = MAXIMUM_TOPIC_DEPTH * (MAXIMUM_TOPIC_SLUG + 1)


class TopicQuerySet(SpaceOwnedQuerySet):
    def at_or_below(self, path: str) -> Self:
        """The topic at `path` and everything below it: a range, which an index answers under row-level security."""
        return self.filter(Q(path=path) | Q(path__gt=path + "/", path__lt=path + chr(ord("/") + 1)))


class Topic(models.Model):
    """A place for notes, inside another one or at the top of its space. `slug` and `path` never change."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    space = models.ForeignKey(Space, models.CASCADE, related_name="topics", verbose_name=_("space"))
    parent = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="children", verbose_name=_("inside")
    )
    slug = models.CharField(_("slug"), max_length=MAXIMUM_TOPIC_SLUG)
    name = models.CharField(_("name"), max_length=MAXIMUM_TOPIC_NAME)
    # The slugs from the top down to this one, with “/” between them.
    path = models.CharField(_("path"), max_length=_MAXIMUM_PATH, db_collation="C", editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    objects = TopicQuerySet.as_manager()

    class Meta:
        verbose_name = _("topic")
        verbose_name_plural = _("topics")
        ordering = ("path",)
        constraints = (
            models.UniqueConstraint(
                fields=("space", "parent", "slug"), nulls_distinct=False, name="topic_once_in_its_place"
            ),
            models.UniqueConstraint(fields=("space", "path"), name="topic_once_per_path"),
        )

    def __str__(self) -> str:
        return self.path
