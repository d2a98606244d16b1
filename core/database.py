"""Lending database connections to threads that outlive one request, and the owner's rights for what needs them."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import close_old_connections, connection


@contextmanager
def lent_connection() -> Iterator[None]:
    """Around work in a pool thread: a dead connection is not used, and a healthy one goes back to the pool after it."""
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()


def release_connection() -> None:
    """Give the connection back before waiting for something outside; inside a transaction it stays."""
    if not connection.in_atomic_block:
        connection.close()


@contextmanager
def as_owner() -> Iterator[None]:
    """With the rights of the user in DATABASE_URL, for changing tables and indexes: row-level security is off inside.

    Outside of transactions only. Where that user is the application's own role, nothing changes.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('role')")
        ((role,),) = cursor.fetchall()
        cursor.execute("RESET ROLE")
    try:
        yield
    finally:
        # A connection that died or was closed inside takes its role with it.
        if connection.connection is not None and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('role', %s, false)", [role])
