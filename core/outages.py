"""Telling why the database could not be asked."""

from psycopg_pool import PoolTimeout, TooManyRequests


def outage(error: BaseException) -> str:
    """What to tell of a database error that another try may mend. A pool that has lent all its connections is no
    missing database."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, PoolTimeout | TooManyRequests):
            return "The server is busy: no database connection became free in time"
        seen = seen.__cause__
    return "The database does not answer"
