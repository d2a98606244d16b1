"""Settings that every test run shares. Services come from `bin/test`, or from DATABASE_URL and REDIS_URL."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests-and-never-for-anything-else")
os.environ.setdefault("RATE_LIMIT_ENABLED", "0")

import functools
import threading
from contextlib import contextmanager

import pytest
from django.db.backends.postgresql.operations import DatabaseOperations

from memory_site.postgresql.base import DatabaseWrapper
from tests.query_counts import captured_queries


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


@pytest.fixture(scope="session", autouse=True)
def tests_own_what_the_site_does_not():
    """The thread of the tests looks at all rows, as the owner of the tables; every other thread, and so the whole site,
    runs as the application's role. What a service does is bound in both."""
    with pytest.MonkeyPatch.context() as patch:
        plain = DatabaseWrapper.init_connection_state

        def with_role(self):
            plain(self)
            if self.connection is not None and self.settings_dict["NAME"]:
                with self.connection.cursor() as cursor:
                    if threading.current_thread() is threading.main_thread():
                        cursor.execute("RESET ROLE")
                    else:
                        self._configure_role(self.connection)

        patch.setattr(DatabaseWrapper, "init_connection_state", with_role)
        yield


def _counted_queries(*, exact):
    @contextmanager
    def counting(number):
        with captured_queries() as asked:
            yield asked
        count = len(asked)
        assert count == number if exact else count <= number, "\n\n".join(query["sql"] for query in asked)

    return counting


@pytest.fixture
def django_assert_num_queries():
    return _counted_queries(exact=True)


@pytest.fixture
def django_assert_max_num_queries():
    return _counted_queries(exact=False)


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
