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


@pytest.fixture(scope="session")
def site_process(django_db_setup):
    """The real site over HTTP for the whole run; it opens the database only when it is asked something."""
    from tests.live import running_site

    with running_site() as address:
        yield address


@pytest.fixture
def site(site_process, transactional_db):
    """The address of the running site. The test's data is really committed, so that the site sees it."""
    from accounts.last_used import forget_noted, wait_until_written

    yield site_process
    # What the site still writes must not meet the next test's database.
    wait_until_written()
    forget_noted()
