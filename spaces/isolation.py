"""The second lock: which spaces' rows the database shows to a transaction.

    with bound(space):
        ...  # the database shows, and lets change, the rows of this space only

Row-level security compares every row of a space-owned table with the spaces bound here (`spaces.policies`). Nothing is
bound outside of these blocks, and then no row is there. A binding is local to its transaction, so that no connection
carries it on.
"""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction

if TYPE_CHECKING:
    from spaces.access import AccessContext, SpaceAccess
    from spaces.models import Space

# The settings that the policies read: ids in braces, as an array, and "on" for all spaces there are.
SPACES = "memory.spaces"
EVERY_SPACE = "memory.every_space"

# A connection of the tables' owner gives its rights up for the length of the block.
_BIND = f"""
SELECT current_setting('{SPACES}', true), current_setting('{EVERY_SPACE}', true), current_setting('role'),
    set_config('{SPACES}', %s, true), set_config('{EVERY_SPACE}', %s, true), (SELECT set_config('role', rolname, true)
    FROM pg_roles WHERE rolname = %s AND pg_has_role(session_user, oid, 'MEMBER'))
"""  # noqa: S608 - put together of constants
_RESTORE = f"""
SELECT set_config('{SPACES}', %s, true), set_config('{EVERY_SPACE}', %s, true), set_config('role', %s, true)
"""


@contextmanager
def bound(reach: "AccessContext | SpaceAccess | Space | uuid.UUID | Iterable[uuid.UUID]") -> Iterator[None]:
    """A transaction that reaches one space, some spaces, or all those of a caller's snapshot.

    Inside another binding it replaces that one until its end. Providers are never called inside: it is a transaction.
    """
    with _bound("{" + ",".join(str(identifier) for identifier in _identifiers(reach)) + "}", ""):
        yield


@contextmanager
def every_space() -> Iterator[None]:
    """A transaction that reaches all spaces: for superusers, commands and upkeep, and nothing else."""
    with _bound("", "on"):
        yield


def is_enforced() -> bool:
    """Whether row-level security holds this connection back. Raises `DatabaseError` when the database is away."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(row_security_active(to_regclass('documents_document')), false)")
        return bool(cursor.fetchall()[0][0])


def _identifiers(
    reach: "AccessContext | SpaceAccess | Space | uuid.UUID | Iterable[uuid.UUID]",
) -> Iterable[uuid.UUID]:
    if isinstance(reach, uuid.UUID):
        return [reach]
    if isinstance(reach, Iterable):
        return reach
    return [space.id for space in reach.spaces] if hasattr(reach, "spaces") else [reach.id]


@contextmanager
def _bound(spaces: str, every: str) -> Iterator[None]:
    is_nested = connection.in_atomic_block
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_BIND, [spaces, every, settings.DATABASE_ROLE])
            ((*before, _, _, _),) = cursor.fetchall()
        yield
        # A rollback to the savepoint restores the settings by itself, and the end of a transaction clears them.
        if is_nested and not connection.needs_rollback:
            with connection.cursor() as cursor:
                cursor.execute(_RESTORE, [value or "" for value in before[:2]] + [before[2]])
