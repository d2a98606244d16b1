"""Every page of the admin: it opens, its cost does not grow with its rows, and nobody sees what is not theirs."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.models import ApiKey, User
from documents.models import Document, PendingDocument
from memories.models import Edge, EmbeddingIndex, EmbeddingModel, Memory, PendingEmbedding, RelationType, Resolution
from memories.tests.factories import link, make_access, make_person, make_space, remember
from memory_site import notices
from spaces.models import Space

pytestmark = pytest.mark.django_db

PAGES = [
    f"admin:{model._meta.app_label}_{model._meta.model_name}"
    for model in admin.site._registry
    if model._meta.app_label in ("accounts", "spaces", "memories", "documents", "auth")
]


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin@example.org", "a long password"))
    return client


def fill(number: int) -> None:
    for index in range(number):
        space = make_space()
        access = make_access(space, person=make_person(f"Person {index}"))
        one, two = remember(access, f"one {index}"), remember(access, f"two {index}")
        link(one, two, RelationType.UPDATES)
        link(two, one, RelationType.EXTENDS)
        edge = link(two, one, RelationType.UPDATES)
        Resolution.objects.create(space=space, edge=edge, decision="keep_both", reason="Both.", resolved_via="mcp")
        model, _ = EmbeddingModel.objects.get_or_create(slug=f"model-{index}", defaults={"dimensions": 3})
        PendingEmbedding.objects.create(space=space, model=model, memory=one)
        EmbeddingIndex.objects.create(space=space, model=model)
        PendingDocument.objects.create(space=space, document_id=one.document_id)
        Group.objects.create(name=f"Team {index}")


@pytest.mark.parametrize("page", PAGES)
def test_a_list_costs_the_same_with_more_rows(administrator, page, monkeypatch):
    # Asked once a minute, and so in one of the two counts by chance.
    monkeypatch.setattr(notices, "isolation_is_enforced", lambda: True)
    counts = []
    # What every page asks once and remembers.
    administrator.get(reverse("admin:index"))
    for number in (2, 6):
        Group.objects.all().delete()
        fill(number)
        with CaptureQueriesContext(connection) as queries:
            assert administrator.get(reverse(f"{page}_changelist")).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("page", PAGES)
def test_every_row_opens(administrator, page):
    fill(1)
    model = next(m for m in admin.site._registry if f"admin:{m._meta.app_label}_{m._meta.model_name}" == page)
    row = model.objects.first()
    assert row is not None
    assert administrator.get(reverse(f"{page}_change", args=[row.pk])).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_nobody_comes_in_without_signing_in(page):
    answer = Client().get(reverse(f"{page}_changelist"))
    assert answer.status_code == 302
    assert "/login/" in answer.url


@pytest.fixture
def manager() -> tuple[Client, Space]:
    """Signed in as somebody who manages one space and nothing else."""
    user = User.objects.create_user("manager@example.org", "a long password", is_staff=True)
    space = make_space("managed")
    assign_perm("manage_space", user, space)
    client = Client()
    client.force_login(user)
    return client, space


def test_a_manager_sees_the_managed_space_and_no_other(manager):
    client, space = manager
    own = remember(make_access(space, person=make_person("Own")), "Own memory.")
    other_access = make_access("foreign", person=make_person("Other"))
    other = remember(other_access, "Foreign memory.")
    for page, mine, theirs in (
        ("admin:memories_memory", own.pk, other.pk),
        ("admin:documents_document", own.document_id, other.document_id),
        ("admin:spaces_space", space.pk, other.space_id),
    ):
        listed = client.get(reverse(f"{page}_changelist")).content.decode()
        assert str(mine) in listed
        assert str(theirs) not in listed
        assert "oreign" not in listed
        assert client.get(reverse(f"{page}_change", args=[mine])).status_code == 200
        assert client.get(reverse(f"{page}_change", args=[theirs])).status_code == 302


def test_a_manager_neither_sees_other_people_nor_their_keys(manager):
    client, _ = manager
    make_access("foreign", person=make_person("Other"))
    for page in ("admin:accounts_user", "admin:accounts_apikey"):
        assert client.get(reverse(f"{page}_changelist")).status_code == 403
    for model in (User, ApiKey):
        row = model.objects.exclude(pk=User.objects.get(email="manager@example.org").pk).first()
        page = f"admin:accounts_{model._meta.model_name}_change"
        assert client.get(reverse(page, args=[row.pk])).status_code in (302, 403)


def test_staff_who_manage_nothing_see_nothing():
    user = User.objects.create_user("nobody@example.org", "a long password", is_staff=True)
    remember(make_access("foreign"), "Foreign memory.")
    client = Client()
    client.force_login(user)
    for page in PAGES:
        assert client.get(reverse(f"{page}_changelist")).status_code == 403


def test_forgetting_in_the_admin_is_attributed_and_reaches_only_managed_spaces(manager):
    client, space = manager
    own = remember(make_access(space, person=make_person("Own")), "Own memory.")
    other = remember(make_access("foreign", person=make_person("Other")), "Foreign memory.")
    client.post(
        reverse("admin:memories_memory_changelist"),
        {"action": "forget", "_selected_action": [str(own.pk), str(other.pk)]},
    )
    own.refresh_from_db()
    other.refresh_from_db()
    assert not own.is_active
    assert own.updated_by.email == "manager@example.org"
    assert other.is_active


def test_no_memory_can_be_deleted_or_changed(administrator):
    fill(1)
    for model in (Memory, Document, Edge):
        row = model.objects.first()
        page = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert administrator.post(reverse(f"{page}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
        assert administrator.post(reverse(f"{page}_change", args=[row.pk]), {"text": "x"}).status_code == 403
