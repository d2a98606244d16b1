"""Work in rows: each space gets its turn, and what never comes to its end is counted, told, and met less and less."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.errors import ProviderUnavailable
from documents.models import Claimed
from memories.models import Memory, PendingEmbedding
from memories.services import claims
from memories.services.claims import MOST_INTERRUPTIONS, Turns
from memories.services.embeddings import BATCH, embed_pending
from memories.services.searched_model import active_model
from memories.tests.factories import make_access, remember
from spaces.isolation import bound
from tests.waiting import eventually

pytestmark = pytest.mark.django_db


def owe(memory: Memory) -> PendingEmbedding:
    model = active_model()
    assert model is not None
    return PendingEmbedding.objects.create(space_id=memory.space_id, model_id=model.row_id, memory=memory)


@pytest.fixture
def owed() -> PendingEmbedding:
    return owe(remember(make_access(), "Owed again."))


def make_due(row: PendingEmbedding) -> None:
    PendingEmbedding.objects.filter(id=row.id).update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def claim_one() -> list[Claimed]:
    return Turns().claim(PendingEmbedding.objects.all())


def test_a_process_that_dies_leaves_a_counted_attempt_and_a_longer_lease_each_time(owed):
    leases = []
    for attempt in range(1, 5):
        make_due(owed)
        # Claimed, and then nothing more: as when the process ends in between.
        assert claim_one()
        owed.refresh_from_db()
        assert owed.attempts == attempt
        assert "did not come to its end" in owed.reason
        leases.append(owed.next_attempt_at - timezone.now())
    assert leases == sorted(leases)
    assert leases[-1] > leases[0] * 7


def test_a_claimed_row_is_nobody_elses_until_its_lease_ends(owed):
    assert claim_one()
    assert not claim_one()
    make_due(owed)
    assert claim_one()


def test_what_ends_its_worker_again_and_again_is_set_aside_until_somebody_asks(owed):
    for _ in range(MOST_INTERRUPTIONS):
        make_due(owed)
        assert claim_one()
    make_due(owed)
    assert not claim_one()
    owed.refresh_from_db()
    assert owed.failed_at is not None
    assert not claim_one()
    with bound(owed.space_id):
        assert claims.retry(PendingEmbedding.objects.all()) == 1
    assert embed_pending() == 1


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_its_holder_works(owed, monkeypatch):
    monkeypatch.setattr(claims, "LEASE", timedelta(milliseconds=300))
    (claimed,) = claim_one()
    with claims.held([claimed]):
        assert eventually(lambda: PendingEmbedding.objects.get().next_attempt_at > claimed.next_attempt_at)


def test_a_failure_counts_once_and_says_why(owed, monkeypatch):
    model = active_model()

    def fails(self, texts):
        raise ProviderUnavailable("The provider does not answer.")

    monkeypatch.setattr(type(model.embedder), "embed_passages", fails)
    assert embed_pending() == 0
    owed.refresh_from_db()
    assert (owed.attempts, owed.reason) == (1, "The provider does not answer.")
    assert owed.claimed_at is None


def test_a_text_that_the_provider_refuses_does_not_hold_up_the_others(monkeypatch):
    access = make_access()
    rows = [owe(remember(access, f"Text number {number}.")) for number in range(4)]
    model = active_model()
    plain = type(model.embedder).embed_passages

    def picky(self, texts):
        if any("number 2" in text for text in texts):
            raise ProviderUnavailable("The provider refused the text.", permanent=True, concerns_every_call=False)
        return plain(self, texts)

    monkeypatch.setattr(type(model.embedder), "embed_passages", picky)
    assert embed_pending() == 3
    left = PendingEmbedding.objects.get()
    assert left.id == rows[2].id
    assert left.failed_at is not None
    assert left.reason == "The provider refused the text."


def test_a_claim_that_works_settles_the_debt(owed):
    assert embed_pending() == 1
    assert not PendingEmbedding.objects.exists()


def test_a_full_space_does_not_starve_the_others():
    full = make_access()
    rows = [owe(remember(full, f"Memory number {number} of many.")) for number in range(BATCH * 2 + 1)]
    small = [owe(remember(make_access(), "One of few.")) for _ in range(2)]
    PendingEmbedding.objects.filter(id__in=[row.id for row in rows]).update(
        next_attempt_at=timezone.now() - timedelta(hours=1)
    )
    turns = Turns()
    served = [turns.claim(PendingEmbedding.objects.all(), limit=BATCH) for _ in range(3)]
    assert {claimed[0].space_id for claimed in served} == {rows[0].space_id, *(row.space_id for row in small)}
    assert max(len(claimed) for claimed in served) == BATCH
