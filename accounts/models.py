"""Who may call: people, and the API keys that speak for them.

A person's `role` is a ceiling on everything they and their keys do; what they may reach is decided in `spaces`.
"""

import uuid
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from guardian.mixins import GuardianUserMixin

MAXIMUM_EMAIL = 320
MAXIMUM_DISPLAY_NAME = 200
MAXIMUM_LABEL = 200
MAXIMUM_IDEMPOTENCY_KEY = 200


def normalise_email(email: str) -> str:
    """One spelling per address: trimmed and lower case, as the reference system keeps it."""
    return email.strip().lower()


class Role(models.TextChoices):
    """What a person may do at most, whatever a space or a key grants."""

    WRITER = "Writer", _("Writer")
    READER = "Reader", _("Reader")


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=email, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=normalise_email(username or ""))


class User(GuardianUserMixin, AbstractBaseUser, PermissionsMixin):
    """A person. The e-mail address is the login; deactivating keeps authorship, deleting does not."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(_("e-mail address"), max_length=MAXIMUM_EMAIL, unique=True)
    display_name = models.CharField(
        _("display name"),
        max_length=MAXIMUM_DISPLAY_NAME,
        blank=True,
        help_text=_("Shown as the author of what this person saves. Left empty, the e-mail address is used."),
    )
    role = models.CharField(
        _("role"),
        max_length=20,
        choices=Role.choices,
        default=Role.WRITER,
        help_text=_("A ceiling: readers never write, whatever a space or a key would allow."),
    )
    is_active = models.BooleanField(
        _("active"),
        default=True,
        help_text=_("An inactive person and all their keys are refused from the next request on."),
    )
    is_staff = models.BooleanField(_("may sign in to this admin"), default=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = []  # noqa: RUF012 - Django declares it so

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")
        ordering = ("email",)
        constraints = (
            models.CheckConstraint(condition=Q(email=Lower("email")), name="user_email_is_lower_case"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="user_role_is_known"),
        )

    def __str__(self) -> str:
        return f"{self.display_name} <{self.email}>" if self.display_name != self.email else self.email

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._normalise()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        super().clean()
        self._normalise()

    def get_full_name(self) -> str:
        return self.display_name

    def get_short_name(self) -> str:
        return self.display_name

    def _normalise(self) -> None:
        self.email = normalise_email(self.email)
        self.display_name = self.display_name.strip() or self.email[:MAXIMUM_DISPLAY_NAME]


class IdempotentCall(models.Model):
    """A write that its caller may repeat: the first answer is kept for a day and given again.

    `caller` is the API key it came with, or the person; `fingerprint` tells whether the same was asked. While there is
    no `answer` the call is running, until `locked_until` at most. `id` stands for what the call makes, so that a call
    taken up after a crash makes nothing twice.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    caller = models.UUIDField()
    operation = models.CharField(max_length=100)
    key = models.CharField(max_length=MAXIMUM_IDEMPOTENCY_KEY)
    fingerprint = models.BinaryField(max_length=32)
    answer = models.JSONField(null=True)
    locked_until = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("repeatable call")
        verbose_name_plural = _("repeatable calls")
        constraints = (
            models.UniqueConstraint(fields=("caller", "operation", "key"), name="idempotent_call_once_per_key"),
        )

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def usable(self) -> "ApiKeyQuerySet":
        """Keys that authenticate right now: neither revoked nor expired, of an active person."""
        return self.filter(revoked_at=None, user__is_active=True).filter(
            Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        )


class ApiKey(models.Model):
    """A credential of one person. Only its SHA-256 is stored; the key itself is shown once, when it is made."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="api_keys", verbose_name=_("person"))
    key_hash = models.CharField(max_length=64, unique=True, editable=False)
    key_prefix = models.CharField(_("starts with"), max_length=12, editable=False, db_index=True)
    label = models.CharField(
        _("label"),
        max_length=MAXIMUM_LABEL,
        blank=True,
        help_text=_("Which credential this is: laptop, build server, the name of an agent."),
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires_at = models.DateTimeField(
        _("expires"), null=True, blank=True, help_text=_("Left empty, the key is valid until it is revoked.")
    )
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("-created_at", "id"), name="api_key_newest"),)

    def __str__(self) -> str:
        return f"{self.key_prefix}… ({self.label})" if self.label else f"{self.key_prefix}…"
