"""What an administrator must know on every page of the admin: sentences, each with what to do."""

import logging
import time
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core.database import lent_connection
from spaces.isolation import is_enforced
from spaces.staff import managed_space_ids

logger = logging.getLogger(__name__)

_UNGUARDED = _(
    "The database does not keep the spaces apart: its user may not become the role of the application. Migrate with a "
    "user that may create roles, or create the role by hand (docs/isolation.md)."
)
# It changes with settings and migrations only.
_REMEMBERED_SECONDS = 60
_known: tuple[float, bool] | None = None


def admin_notices(request: HttpRequest) -> dict[str, Any]:
    """A context processor: `notices` for the superusers' pages of the admin."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or managed_space_ids(user) is not None:
        return {"notices": []}
    return {"notices": [] if isolation_is_enforced() else [_UNGUARDED]}


def isolation_is_enforced() -> bool:
    """Whether the database keeps spaces apart by itself; asked once a minute."""
    global _known
    if _known is None or time.monotonic() - _known[0] > _REMEMBERED_SECONDS:
        _known = (time.monotonic(), is_enforced())
    return _known[1]


def warn_when_unguarded() -> None:
    """At the start of a server: a line in the log when the second lock is open, or when nobody can tell."""
    try:
        with lent_connection():
            if not is_enforced():
                logger.warning("%s", _UNGUARDED)
    except DatabaseError as error:
        logger.warning("isolation could not be checked: %s", error)
