"""What a note says now is what is found: words and meaning follow every change, and old vectors never return."""

import pytest

from memories.models import Embedding, Memory, PendingEmbedding
from memories.search.service import search
from memories.services.embeddings import active_model, store_embedding
from memories.services.note_words import embed_soon
from memories.services.notes import delete_note, restore_note, update_note
from memories.tests.factories import make_access
from memories.tests.notes import write

pytestmark = pytest.mark.django_db


@pytest.fixture
def access():
    return make_access()


def found(access, keyword):
    return [match.memory.id for match in search(access, keyword=keyword).matches]


def vector(note):
    return [list(row.embedding) for row in Embedding.objects.filter(memory_id=note.id).order_by("chunk")]


def test_words_follow_text_title_tags_and_topic(access):
    note = write(access, "Giraffe", "Elephants everywhere.", topic="zoo", tags=["savanna"])
    update_note(access, note.id, title="Penguin", text="Walruses everywhere.", topic="aquarium", tags=["arctic"])
    for gone in ("giraffe", "elephants", "zoo", "savanna"):
        assert found(access, gone) == []
    for new in ("penguin", "walruses", "aquarium", "arctic"):
        assert found(access, new) == [note.id]


def test_the_vector_follows_text_and_title_and_nothing_else(access):
    note = write(access, "Heating", "The heat pump was delivered.")
    first = vector(note)
    update_note(access, note.id, status="outdated", tags=["x"], topic="elsewhere")
    assert vector(note) == first
    update_note(access, note.id, text="The choir meets on Thursday.")
    second = vector(note)
    assert second != first
    update_note(access, note.id, title="Music")
    assert vector(note) not in ([], first, second)


def test_a_vector_of_what_a_note_said_before_is_not_stored(access, monkeypatch):
    note = write(access, "Heating", "The heat pump was delivered.")
    model = active_model()
    assert model is not None
    before = Memory.objects.get(id=note.id)
    # As if a worker had begun to embed what stood there, and the note was changed meanwhile.
    monkeypatch.setattr("memories.services.notes.embed_soon", lambda memory, model: False)
    update_note(access, note.id, text="The choir meets on Thursday.")
    store_embedding(before, model.row_id, model.embedder.embed_passages([before.embedded_text]))
    assert vector(note) == []
    assert PendingEmbedding.objects.filter(memory_id=note.id).exists()
    now = Memory.objects.get(id=note.id)
    assert embed_soon(now, model)
    assert vector(note)
    assert not PendingEmbedding.objects.filter(memory_id=note.id).exists()


def test_a_deleted_note_is_found_by_nothing_and_restored_by_all(access):
    note = write(access, "Heating", "The heat pump was delivered.")
    delete_note(access, note.id)
    assert found(access, "heat pump") == []
    assert vector(note) == []
    assert restore_note(access, note.id).embedded
    assert found(access, "heat pump") == [note.id]
    assert vector(note)
