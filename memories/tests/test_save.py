import threading

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Role
from core.errors import AccessDenied, Invalid, NotFound
from documents.models import Document, Status
from memories.models import Embedding, Memory, PendingEmbedding, SpaceStatistics, VocabularyTerm
from memories.services import save
from memories.services.save import save_memory
from memories.tests.factories import make_access, make_person, make_space
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db


def test_a_memory_is_kept_word_for_word_with_its_document_and_author():
    access = make_access()
    text = "The office closes at six.\n\n  Except on Fridays.  "
    saved = save_memory(access, content=text, category=" office ", source="chat 12")
    memory = Memory.objects.select_related("document").get(id=saved.memory.id)
    assert memory.text == text
    assert (memory.category, memory.source) == ("office", "chat 12")
    assert (memory.created_by_id, memory.updated_by_id) == (access.user_id, access.user_id)
    assert (memory.created_by_key_id, memory.created_via) == (access.credential.id, "mcp")
    assert memory.document.raw_content == text
    assert memory.document.doc_type == "note"
    assert memory.document.status == Status.PROCESSED
    assert memory.document.title == "The office closes at six. Except on Fridays."


def test_a_long_text_titles_its_document_with_its_beginning():
    saved = save_memory(make_access(), content="word " * 40)
    title = Document.objects.get(id=saved.memory.document_id).title
    assert len(title) == 81
    assert title.endswith("…")


def test_a_saved_memory_is_embedded_at_once_and_owes_nothing():
    saved = save_memory(make_access(), content="The office closes at six.")
    assert saved.embedded
    assert Embedding.objects.filter(memory_id=saved.memory.id).count() == 1
    assert not PendingEmbedding.objects.filter(memory_id=saved.memory.id).exists()


def test_the_same_statement_is_remembered_once_and_in_another_category_again():
    access = make_access()
    first = save_memory(access, content="The office closes at six.", category="office")
    again = save_memory(access, content="The office closes at six.", category="office")
    other = save_memory(access, content="The office closes at six.", category="hours")
    assert again.duplicate
    assert again.memory.id == first.memory.id
    assert not other.duplicate
    assert Memory.objects.count() == 2
    assert Document.objects.count() == 2


def test_two_spaces_may_remember_the_same():
    access = make_access("one", "two")
    assert not save_memory(access, content="Same.", container_tag="one").duplicate
    assert not save_memory(access, content="Same.", container_tag="two").duplicate


def test_counts_and_vocabulary_follow_the_active_memories():
    access = make_access()
    space = access.space(None)
    save_memory(access, content="red apples")
    save_memory(access, content="green apples")
    assert SpaceStatistics.objects.get(space_id=space.id).memory_count == 2
    assert VocabularyTerm.objects.get(space_id=space.id, term="appl").memory_count == 2


@pytest.mark.parametrize("content", ["", " ", "\u200b", "\x00", None, 5])
def test_blank_content_is_refused(content):
    with pytest.raises(Invalid):
        save_memory(make_access(), content=content)
    assert Document.objects.count() == 0


def test_over_long_input_is_refused_and_nothing_is_stored():
    access = make_access()
    with pytest.raises(Invalid, match="content is too long"):
        save_memory(access, content="x" * 100_001)
    with pytest.raises(Invalid, match="category is too long"):
        save_memory(access, content="x", category="c" * 101)
    with pytest.raises(Invalid, match="source is too long"):
        save_memory(access, content="x", source="s" * 501)
    assert Document.objects.count() == 0


def test_someone_elses_space_is_as_unknown_as_one_that_does_not_exist():
    make_space("theirs")
    access = make_access()
    with pytest.raises(NotFound) as theirs:
        save_memory(access, content="x", container_tag="theirs")
    with pytest.raises(NotFound) as nowhere:
        save_memory(access, content="x", container_tag="nowhere")
    assert theirs.value.message.replace("theirs", "nowhere") == nowhere.value.message


def test_neither_a_reader_nor_a_read_grant_may_write():
    for access in (make_access(person=make_person(role=Role.READER)), make_access(level=AccessLevel.READ)):
        with pytest.raises(AccessDenied):
            save_memory(access, content="x")
    assert Document.objects.count() == 0


def test_a_very_long_text_is_stored_at_once_and_embedded_later(monkeypatch):
    asked = []
    monkeypatch.setattr(save, "request_embedding", lambda: asked.append(True))
    saved = save_memory(make_access(), content="A sentence of some length, number one. " * 2000)
    assert not saved.embedded
    assert asked
    assert PendingEmbedding.objects.filter(memory_id=saved.memory.id).count() == 1


def test_without_embeddings_a_memory_is_saved_and_says_so(settings):
    settings.EMBEDDINGS_PROVIDER = "none"
    saved = save_memory(make_access(), content="The office closes at six.")
    assert not saved.embedded
    assert not PendingEmbedding.objects.exists()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300), st.one_of(st.none(), st.text(max_size=30)))
def test_any_text_is_stored_as_it_is_or_refused_in_words(text, category):
    access = make_access()
    try:
        saved = save_memory(access, content=text, category=category)
    except Invalid:
        return
    stored = Memory.objects.get(id=saved.memory.id)
    assert stored.text == saved.memory.text
    assert SpaceStatistics.objects.get(space_id=stored.space_id).term_total == stored.term_total


@pytest.mark.django_db(transaction=True)
def test_sixteen_saves_at_once_in_one_space_all_arrive_and_counts_agree():
    access = make_access()
    failures: list[Exception] = []

    def work(number: int) -> None:
        try:
            for index in range(4):
                save_memory(access, content=f"shared words here in {index % 2} by {number} as note {index}")
            save_memory(access, content="all say this")
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    space = access.space(None)
    assert Memory.objects.filter(space_id=space.id).count() == 65
    assert SpaceStatistics.objects.get(space_id=space.id).memory_count == 65
    assert VocabularyTerm.objects.get(space_id=space.id, term="share").memory_count == 64
