"""Settings that every test run shares. Services come from `bin/test`, or from DATABASE_URL and REDIS_URL."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests-and-never-for-anything-else")
os.environ.setdefault("RATE_LIMIT_ENABLED", "0")

import functools

import pytest
from django.db.backends.postgresql.operations import DatabaseOperations


@pytest.fixture(scope="session", autouse=True)
def flush_reaches_every_table():
    """Tests with real transactions empty the tables that Django manages; those made by SQL refer to them."""
    with pytest.MonkeyPatch.context() as patch:
        plain = DatabaseOperations.sql_flush

        @functools.wraps(plain)
        def cascading(self, style, tables, *, reset_sequences=False, allow_cascade=False):
            return plain(self, style, tables, reset_sequences=reset_sequences, allow_cascade=True)

        patch.setattr(DatabaseOperations, "sql_flush", cascading)
        yield
