"""What a save does when an extractor splits the text into facts."""

import pytest

from documents.models import Document, PendingDocument, Stage, Status
from memories.models import Embedding, Memory
from memories.services.save import save_memory
from memories.tests.factories import make_access
from tests.providers.fixtures import chat_server, embedding_server, remote_embeddings, work_here

__all__ = ["chat_server", "embedding_server", "remote_embeddings", "work_here"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("work_here", "remote_embeddings")]

TEXT = "Clara lives in Lisbon. The office closes at six."


def test_each_fact_becomes_a_memory_that_leads_back_to_the_words_it_came_from(chat_server):
    access = make_access()
    saved = save_memory(access, content=TEXT, category="people", source="chat 12")
    assert [memory.text for memory in saved.memories] == ["Clara lives in Lisbon.", "The office closes at six."]
    assert (saved.status, saved.extraction, saved.embedding) == (Status.PROCESSED, Stage.DONE, Stage.DONE)
    for memory in Memory.objects.select_related("document"):
        assert memory.document.raw_content == TEXT
        assert (memory.category, memory.source) == ("people", "chat 12")
        assert (memory.created_by_id, memory.created_by_key_id) == (access.user_id, access.credential.id)
    assert Document.objects.count() == 1
    assert not PendingDocument.objects.exists()
    assert Embedding.objects.count() == 2
