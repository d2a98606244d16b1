"""What waits, runs and failed: the same numbers for the admin, REST and /readyz, and another try when asked for."""

from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from guardian.shortcuts import assign_perm

from documents.models import Document, PendingDocument, Stage, Status
from memories.jobs import list_jobs
from memories.models import PendingEmbedding
from memories.services.retries import retry_failed
from memories.services.statements import new_note
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db


def pending(access, text="Words that wait.", *, failed=False, running=False, minutes=0):
    """A document that waits since `minutes`, that a process is at, or that failed."""
    now = timezone.now()
    status = Status.FAILED if failed else Status.PENDING
    document = new_note(access, access.space(None).id, text, now, status=status, extraction=Stage.PENDING)
    document.save()
    return PendingDocument.objects.create(
        space_id=document.space_id,
        document=document,
        created_at=now - timedelta(minutes=minutes),
        claimed_at=now if running else None,
        next_attempt_at=now + timedelta(minutes=1 if running else 0),
        failed_at=now if failed else None,
        reason="The model was not at home." if failed else "",
    )


@pytest.fixture
def access():
    return make_access("team")


def test_numbers_and_reasons_of_a_space(access, django_assert_num_queries):
    pending(access, minutes=5)
    pending(access, running=True)
    row = pending(access, failed=True)
    remember(access, "Something else.")
    pending(make_access("elsewhere"), failed=True)
    with django_assert_num_queries(4):
        told = list_jobs(access, container_tag="team")
    assert (told.documents.waiting, told.documents.running, told.documents.failed) == (1, 1, 1)
    assert told.documents.oldest_seconds >= 300
    assert (told.embeddings.waiting, told.embeddings.oldest_seconds) == (0, None)
    (failed,) = told.failed
    assert (failed.document_id, failed.reason, failed.space_key) == (row.document_id, row.reason, "team")


def test_a_retry_makes_what_failed_due_again(access):
    row = pending(access, failed=True)
    others = pending(make_access("elsewhere"), failed=True)
    assert retry_failed(access) == 1
    row.refresh_from_db()
    assert (row.failed_at, row.attempts) == (None, 0)
    assert Document.objects.get(id=row.document_id).status == Status.PENDING
    others.refresh_from_db()
    assert others.failed_at is not None


def test_whoever_may_only_read_cannot_ask_for_a_retry(access):
    pending(access, failed=True)
    space = Document.objects.get().space
    reader = make_access(space, level=AccessLevel.READ)
    assert list_jobs(reader).documents.failed == 1
    assert retry_failed(reader) == 0


def test_rest_tells_the_same_and_takes_the_request():
    space = make_space()
    person = make_person()
    pending(make_access(space, person=person), failed=True)
    client = Client(headers={"X-Api-Key": make_key(person, space).secret})
    told = client.get("/api/v1/jobs").json()
    assert told["documents"] == {"waiting": 0, "running": 0, "failed": 1}
    assert told["failed"][0]["reason"] == "The model was not at home."
    answer = client.post("/api/v1/jobs/retry", {}, content_type="application/json")
    assert answer.json() == {"retried": 1}
    assert client.get("/api/v1/jobs").json()["documents"]["waiting"] == 1


def manager(client, space):
    person = make_person()
    person.is_staff = True
    person.save()
    assign_perm("manage_space", person, space)
    client.force_login(person)


def test_the_admin_shows_the_jobs_of_managed_spaces_and_tries_all_again(client):
    mine, others = make_access("mine"), make_access("others")
    pending(mine, "My words.", failed=True)
    row = pending(others, "Their words.", failed=True)
    manager(client, Document.objects.get(title="My words.").space)
    page = client.get(reverse("admin:documents_pendingdocument_changelist"))
    assert page.status_code == 200
    assert "My words." in page.content.decode()
    assert "Their words." not in page.content.decode()
    assert page.context["jobs"].documents.failed == 1
    answer = client.post(reverse("admin:documents_pendingdocument_retry"))
    assert [str(message) for message in get_messages(answer.wsgi_request)] == ["1 is tried again."]
    row.refresh_from_db()
    assert row.failed_at is not None
    assert PendingDocument.objects.get(document__title="My words.").failed_at is None


def test_single_jobs_are_tried_again_by_an_action_and_filtered_by_state(client):
    access = make_access("mine")
    first, second = pending(access, "One.", failed=True), pending(access, "Two.", failed=True)
    manager(client, Document.objects.first().space)
    address = reverse("admin:documents_pendingdocument_changelist")
    client.post(address, {"action": "retry", "_selected_action": [first.id]})
    page = client.get(address, {"state": "failed"}).content.decode()
    assert "Two." in page
    assert "One." not in page
    second.refresh_from_db()
    assert second.failed_at is not None


def test_owed_embeddings_are_tried_again_too(client):
    access = make_access("mine")
    memory = remember(access, "Something.")
    model_id = memory.embeddings.get().model_id
    PendingEmbedding.objects.create(
        space_id=memory.space_id, model_id=model_id, memory=memory, failed_at=timezone.now(), reason="Refused."
    )
    manager(client, memory.space)
    page = client.get(reverse("admin:memories_pendingembedding_changelist"))
    assert "Refused." in page.content.decode()
    client.post(reverse("admin:memories_pendingembedding_retry"))
    assert PendingEmbedding.objects.get().failed_at is None


def test_readiness_is_degraded_while_something_failed_or_is_stuck(transactional_db):
    access = make_access()
    row = pending(access, minutes=60)
    told = Client().get("/readyz").json()
    assert told["status"] == "degraded"
    assert told["checks"]["jobs"]["documents"]["waiting"] == 1
    assert told["checks"]["jobs"]["documents"]["oldestSeconds"] >= 3600
    PendingDocument.objects.filter(id=row.id).update(failed_at=timezone.now())
    assert Client().get("/readyz").json()["checks"]["jobs"]["documents"]["failed"] == 1
