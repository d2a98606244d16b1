"""Work that never comes to its end is counted, told, and met less and less often."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.errors import ProviderUnavailable
from memories.models import PendingEmbedding
from memories.services import embeddings
from memories.services.embeddings import embed_pending
from memories.services.searched_model import active_model
from memories.tests.factories import make_access, remember

pytestmark = pytest.mark.django_db


@pytest.fixture
def owed() -> PendingEmbedding:
    memory = remember(make_access(), "Owed again.")
    model = active_model()
    assert model is not None
    return PendingEmbedding.objects.create(space_id=memory.space_id, model_id=model.row_id, memory=memory)


def make_due(row: PendingEmbedding) -> None:
    PendingEmbedding.objects.filter(id=row.id).update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_a_process_that_dies_leaves_a_counted_attempt_and_a_longer_lease_each_time(owed):
    leases = []
    for attempt in range(1, 5):
        make_due(owed)
        # Claimed, and then nothing more: as when the process ends in between.
        assert embeddings._claim(owed.model_id) is not None
        owed.refresh_from_db()
        assert owed.attempts == attempt
        assert "did not come to its end" in owed.reason
        leases.append(owed.next_attempt_at - timezone.now())
    assert leases == sorted(leases)
    assert leases[-1] > leases[0] * 7


def test_a_failure_counts_once_and_says_why(owed, monkeypatch):
    model = active_model()

    def fails(self, texts):
        raise ProviderUnavailable("The provider does not answer.")

    monkeypatch.setattr(type(model.embedder), "embed_passages", fails)
    assert embed_pending() == 0
    owed.refresh_from_db()
    assert (owed.attempts, owed.reason) == (1, "The provider does not answer.")


def test_a_claim_that_works_settles_the_debt(owed):
    assert embed_pending() == 1
    assert not PendingEmbedding.objects.exists()
