"""Django's PostgreSQL backend, whose connections become the role that owns nothing, before anything is asked.

The user of DATABASE_URL may own the tables or be a superuser, which row-level security does not hold back; so each
connection gives that up for `settings.DATABASE_ROLE`. Migrations take it back (`core.database.as_owner`).
"""

import logging
import threading
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base

logger = logging.getLogger(__name__)

# Before the first migration there is neither the role nor anything to guard.
_TAKE_ROLE = """
SELECT (SELECT set_config('role', rolname, false) FROM pg_roles
        WHERE rolname = %s AND pg_has_role(session_user, oid, 'MEMBER')), session_user::text
WHERE to_regclass('documents_document') IS NOT NULL
"""
_IS_HELD = "SELECT row_security_active('documents_document')"
_warned = threading.Event()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that runs as the application's role wherever its user may become it."""

    def _configure_role(self, connection: Any) -> bool:
        with connection.cursor() as cursor:
            for taken, user in cursor.execute(_TAKE_ROLE, [settings.DATABASE_ROLE]).fetchall():
                if taken is None and not _warned.is_set() and cursor.execute(_IS_HELD).fetchone() != (True,):
                    _warned.set()
                    logger.warning(
                        "the database does not keep spaces apart by itself: its user %s may not become the role %s; "
                        "see docs/isolation.md",
                        user,
                        settings.DATABASE_ROLE,
                    )
        return True
