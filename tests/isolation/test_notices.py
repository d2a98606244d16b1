"""An open second lock is told to those who can close it, and to nobody else."""

import threading

import pytest
from django.db import connection
from django.test import Client

from accounts.models import User
from memories.models import EmbeddingModel, ModelState
from memories.tests.factories import make_person, make_space
from memory_site import notices
from memory_site.postgresql import base
from spaces.services.members import set_member_permission

pytestmark = pytest.mark.django_db
SENTENCE = "does not keep the spaces apart"


@pytest.fixture
def superuser() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.org", "a-long-password", display_name="Root"))
    return client


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    monkeypatch.setattr(notices, "_known", None)


def test_superusers_see_it_on_every_page(superuser, monkeypatch):
    assert SENTENCE not in superuser.get("/admin/").content.decode()
    monkeypatch.setattr(notices, "_known", None)
    monkeypatch.setattr(notices, "is_enforced", lambda: False)
    for page in ("/admin/", "/admin/spaces/space/"):
        assert SENTENCE in superuser.get(page).content.decode()


def test_superusers_see_that_searches_by_meaning_do_not_work(superuser):
    assert "find by words only" not in superuser.get("/admin/").content.decode()
    EmbeddingModel.objects.create(slug="gone:model@3", dimensions=3, state=ModelState.SEARCHED)
    text = superuser.get("/admin/").content.decode()
    assert "find by words only" in text
    assert "gone:model@3 is not configured any more" in text


def test_managers_of_a_space_do_not(monkeypatch):
    monkeypatch.setattr(notices, "is_enforced", lambda: False)
    manager = make_person()
    manager.is_staff = True
    manager.save()
    set_member_permission(make_space(), manager, "manage_space")
    client = Client()
    client.force_login(manager)
    assert SENTENCE not in client.get("/admin/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_the_log_says_so_once(settings, caplog, monkeypatch):
    monkeypatch.setattr(base, "_warned", threading.Event())
    settings.DATABASE_ROLE = "nobody_made_this_role"
    connection.ensure_connection()
    for _ in range(2):
        connection._configure_role(connection.connection)
    assert [record.message.count("does not keep spaces apart") for record in caplog.records] == [1]
    assert "may not become the role nobody_made_this_role" in caplog.text
