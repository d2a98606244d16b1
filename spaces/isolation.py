"""The second lock: which spaces' rows the database shows to a transaction.

    with bound(space):
        ...  # the database shows, and lets change, the rows of this space only

Row-level security compares every row of a space-owned table with the spaces bound here. Nothing is bound outside of
these blocks, and then no row is there. A binding ends with its transaction, so that no connection carries it on.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connection, transaction

if TYPE_CHECKING:
    from spaces.access import AccessContext, SpaceAccess

# The setting that the policies read: ids in braces as an array, or the word for all.
SETTING = "memory.spaces"
EVERY_SPACE = "every"


@contextmanager
def bound(reach: "AccessContext | SpaceAccess | uuid.UUID") -> Iterator[None]:
    """A transaction that reaches one space (its access or its id), or all spaces of a caller.

    Inside another binding it replaces that one until its end. Providers are never called inside: it is a transaction.
    """
    spaces = getattr(reach, "spaces", None)
    identifiers = [space.id for space in spaces] if spaces is not None else [getattr(reach, "id", reach)]
    with _bound("{" + ",".join(str(identifier) for identifier in identifiers) + "}"):
        yield


@contextmanager
def every_space() -> Iterator[None]:
    """A transaction that reaches all spaces: for superusers, upkeep and the resolving of access, and nothing else."""
    with _bound(EVERY_SPACE):
        yield


@contextmanager
def _bound(value: str) -> Iterator[None]:
    is_nested = connection.in_atomic_block
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting(%s, true), set_config(%s, %s, true)", [SETTING, SETTING, value])
            ((before, _),) = cursor.fetchall()
        yield
        # A rollback to the savepoint restores it by itself, and a transaction's end clears it.
        if is_nested and not connection.needs_rollback:
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config(%s, %s, true)", [SETTING, before or ""])
