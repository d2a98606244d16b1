"""All filters by space are taken out of the application at once, and the database still shows an outsider nothing.

The same attempts as in the leak suite. That they would succeed without the second lock is shown first, or else this
would prove nothing.
"""

import json

import pytest
from django.db import connection
from django.test import Client

from mcp_server.resources import RESOURCES
from mcp_server.tools import TOOLS
from memories.tests.factories import make_key, make_person, make_space, remember
from spaces.access import access_for_key
from spaces.models import SpaceOwnedQuerySet
from tests.live import post, tool_call
from tests.test_leaks import ROUTES, TOOL_ARGUMENTS, assert_shows_nothing, owned


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


def everything_tried(site, key, secret):
    """What was sent and what came back, for each attempt of the leak suite."""
    for name in TOOLS:
        for attempt in TOOL_ARGUMENTS[name](secret):
            yield attempt, post(site, key, tool_call(name, attempt)).text
    for uri in RESOURCES:
        message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
        yield {}, post(site, key, message).text
    message = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "context"}}
    yield {}, post(site, key, message).text
    client = Client(headers={"X-Api-Key": key})
    for requests in ROUTES.values():
        for method, path, body in requests(secret):
            answer = client.generic(method, f"/api/v1{path}", json.dumps(body or {}), content_type="application/json")
            assert answer.status_code < 500, (method, path)
            yield [path, path, body], answer.content.decode()


def leaks(site, key, secret) -> list[object]:
    found: list[object] = []
    for asked, text in everything_tried(site, key, secret):
        try:
            assert_shows_nothing(text, asked, secret)
        except AssertionError:
            found.append(asked)
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
