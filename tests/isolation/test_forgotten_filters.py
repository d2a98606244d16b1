"""All filters by space are taken out of the application at once, and the database still shows an outsider nothing.

The same attempts as in the leak suite. That they would succeed without the second lock is shown first, or else this
would prove nothing.
"""

import pytest
from django.db import connection

from memories.tests.factories import make_key, make_person, make_space, remember
from spaces.access import access_for_key
from spaces.models import SpaceOwnedQuerySet
from tests.isolation.surfaces import SURFACES
from tests.test_leaks import assert_shows_nothing, owned

pytestmark = pytest.mark.leaks


@pytest.fixture
def forgotten_filters(monkeypatch):
    """Every query of every module reads across spaces."""
    monkeypatch.setattr(SpaceOwnedQuerySet, "in_space", lambda rows, space: rows.all())
    monkeypatch.setattr(SpaceOwnedQuerySet, "in_any_space", lambda rows, access: rows.all())


@pytest.fixture
def secret(site):
    return owned()


@pytest.fixture
def outsider(site):
    key = make_key(make_person("Outsider"), make_space("elsewhere")).secret
    access = access_for_key(key)
    assert access is not None
    remember(access, "Something of the outsider's own.", category="own")
    return key


def leaks(site, key, secret) -> list[object]:
    found: list[object] = []
    for name, attempts in SURFACES.items():
        for answer in attempts(site, key, secret):
            assert answer.status < 500, name
            try:
                assert_shows_nothing(answer.text, answer.sent, secret)
            except AssertionError:
                found.append((name, answer.sent))
    return found


@pytest.mark.usefixtures("forgotten_filters")
def test_the_database_refuses_what_forgotten_filters_ask_for(site, secret, outsider):
    before = secret.snapshot()
    assert leaks(site, outsider, secret) == []
    assert secret.snapshot() == before


@pytest.mark.usefixtures("forgotten_filters")
def test_without_the_second_lock_the_same_attempts_succeed(site, secret, outsider, settings):
    with connection.cursor() as cursor:
        cursor.execute("SELECT session_user::text")
        # Whom no policy holds back.
        settings.DATABASE_ROLE = cursor.fetchall()[0][0]
    assert len(leaks(site, outsider, secret)) > 10
