"""Lending database connections to threads that outlive one request."""

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
