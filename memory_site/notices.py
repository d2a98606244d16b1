"""What an administrator must know on every page of the admin: sentences, each with what to do."""

import time
from typing import Any

from django.http import HttpRequest
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from memories.services.searched_model import searched_problem
from spaces.isolation import is_enforced
from spaces.staff import managed_space_ids

_UNGUARDED = _(
    "The database does not keep the spaces apart: its user may not become the role of the application. Migrate with a "
    "user that may create roles, or create the role by hand (docs/isolation.md)."
)
_NO_MEANING = _("Searches find by words only, since the embedding model that they use does not work:")
# It changes with settings and migrations only.
_REMEMBERED_SECONDS = 60
_known: tuple[float, bool] | None = None


def admin_notices(request: HttpRequest) -> dict[str, Any]:
    """A context processor: `notices` for the superusers' pages of the admin."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or managed_space_ids(user) is not None:
        return {"notices": []}
    notices = [] if isolation_is_enforced() else [_UNGUARDED]
    problem = searched_problem()
    if problem is not None:
        notices.append(format_lazy("{} {}", _NO_MEANING, problem))
    return {"notices": notices}


def isolation_is_enforced() -> bool:
    """Whether the database keeps spaces apart by itself; asked once a minute."""
    global _known
    if _known is None or time.monotonic() - _known[0] > _REMEMBERED_SECONDS:
        _known = (time.monotonic(), is_enforced())
    return _known[1]
