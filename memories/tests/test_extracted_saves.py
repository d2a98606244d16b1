"""What a save does when an extractor splits the text into facts."""

import threading
import uuid

import pytest
from django.db import connection

from documents.models import Document, PendingDocument, Stage, Status
from history.models import Ref
from memories.models import Edge, Embedding, Memory, RelationType, Version
from memories.services import facts
from memories.services.save import save_memory
from memories.services.statements import content_hash
from memories.tests.factories import make_access, make_person, make_space, remember
from memories.wire import WireWriteResult
from tests.providers.fixtures import chat_server, embedding_server, remote_embeddings, work_here
from tests.providers.server import fact

__all__ = ["chat_server", "embedding_server", "remote_embeddings", "work_here"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("work_here", "remote_embeddings", "lifelike_vectors"),
]

TEXT = "Clara lives in Lisbon. The office closes at six."
OLD = "Clara lives in Lisbon."
NEW = "Clara lives in Porto."


@pytest.fixture
def lifelike_vectors(remote_embeddings):
    """Wide enough that texts which share most words are alike, and others are not."""
    remote_embeddings.dimensions = 256


@pytest.fixture
def known(settings):
    """Saves a memory word for word, as before there was an extractor."""

    def save(access, text=OLD, **named):
        provider, settings.EXTRACTION_PROVIDER = settings.EXTRACTION_PROVIDER, "none"
        memory = remember(access, text, **named)
        settings.EXTRACTION_PROVIDER = provider
        return memory

    return save


def answers(server, *given):
    server.facts = lambda content, memories: list(given)


def updates(server, target, text=NEW, note="She moved."):
    answers(server, fact(text, (str(target.id), "Updates", note)))


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


def test_a_save_of_several_facts_is_one_commit_by_its_author(chat_server):
    access = make_access()
    save_memory(access, content=TEXT)
    versions = Version.objects.all()
    assert versions.count() == 2
    assert len({version.commit for version in versions}) == 1
    assert Ref.objects.count() == 1
    assert {version.created_by_id for version in versions} == {access.user_id}


def test_what_updates_an_own_memory_supersedes_it(chat_server, known):
    access = make_access()
    old = known(access)
    updates(chat_server, old)
    saved = save_memory(access, content=NEW)
    old.refresh_from_db()
    assert not old.is_active
    assert old.superseded_by_id == saved.memory.id
    assert (old.updated_by_id, old.deactivated_by_id) == (access.user_id, access.user_id)
    assert not Embedding.objects.filter(memory=old).exists()
    edge = Edge.objects.get()
    assert (edge.from_memory_id, edge.to_memory_id) == (saved.memory.id, old.id)
    assert (edge.relation_type, edge.note, edge.created_by_id) == (RelationType.UPDATES, "She moved.", access.user_id)
    told = WireWriteResult.of_save(saved).dump()
    assert told["supersededMemoryIds"] == [str(old.id)]
    assert told["contestedMemoryIds"] == []
    assert "1 superseded" in told["message"]


def test_a_colleagues_memory_is_left_active_and_told(chat_server, known):
    space = make_space()
    old = known(make_access(space))
    updates(chat_server, old)
    saved = save_memory(make_access(space, person=make_person("Grace")), content=NEW)
    before = old.updated_at
    old.refresh_from_db()
    assert (old.is_active, old.superseded_by_id, old.updated_at) == (True, None, before)
    assert saved.outcome.contested == (old.id,)
    assert Edge.objects.get().to_memory_id == old.id
    told = WireWriteResult.of_save(saved).dump()
    assert told["contestedMemoryIds"] == [str(old.id)]
    assert "left active" in told["message"]


def test_a_memory_without_an_author_is_superseded(chat_server, known):
    access = make_access()
    old = known(access)
    Memory.objects.filter(id=old.id).update(created_by=None)
    updates(chat_server, old)
    assert save_memory(access, content=NEW).outcome.superseded == (old.id,)


def test_a_fact_about_something_else_supersedes_nothing_and_keeps_its_edge(chat_server, known):
    access = make_access()
    old = known(access)
    updates(chat_server, old, text="Invoices are paid within thirty days.")
    # The whole text is like the memory; the fact is what counts.
    saved = save_memory(access, content="Clara lives in Lisbon, and invoices are paid within thirty days.")
    old.refresh_from_db()
    assert old.is_active
    assert saved.outcome.superseded == ()
    assert Edge.objects.get().relation_type == RelationType.UPDATES


def test_what_extends_or_derives_leaves_everything_active(chat_server, known):
    access = make_access()
    old = known(access)
    answers(
        chat_server,
        fact("Clara lives in Lisbon near the river.", (str(old.id), "Extends", None), (str(old.id), "Derives", None)),
    )
    save_memory(access, content="Clara lives in Lisbon near the river.")
    assert sorted(edge.relation_type for edge in Edge.objects.all()) == [RelationType.EXTENDS, RelationType.DERIVES]
    assert Memory.objects.filter(is_active=True).count() == 2


def test_two_facts_that_update_one_memory_supersede_it_once(chat_server, known):
    access = make_access()
    old = known(access)
    answers(
        chat_server,
        fact(NEW, (str(old.id), "Updates", None), (str(old.id), "Updates", "again")),
        fact("Clara lives in Porto now.", (str(old.id), "Updates", None)),
    )
    saved = save_memory(access, content=NEW)
    old.refresh_from_db()
    assert saved.outcome.superseded == (old.id,)
    assert old.superseded_by_id == saved.memories[0].id
    assert Edge.objects.count() == 2


def test_facts_that_are_known_or_only_repeat_a_memory_are_not_stored_again(chat_server, known):
    access = make_access()
    old = known(access)
    answers(chat_server, fact(OLD), fact("clara lives in lisbon"), fact("Tea is hot."))
    saved = save_memory(access, content="As you know, Clara lives in Lisbon. Tea is hot.")
    assert [memory.text for memory in saved.memories] == [OLD, "Tea is hot."]
    assert saved.outcome.known == 1
    assert Memory.objects.count() == 2
    answers(chat_server, fact(OLD))
    again = save_memory(access, content="Once more: Clara lives in Lisbon.")
    assert again.duplicate
    assert again.memory.id == old.id
    assert Memory.objects.count() == 2
    assert WireWriteResult.of_save(again).affected_count == 0


def test_made_up_ids_are_dropped_and_so_are_those_of_other_spaces(chat_server, known):
    elsewhere = known(make_access("elsewhere"))
    chat_server.modes["/chat/completions"] = "unknown ids"
    updates(chat_server, elsewhere)
    saved = save_memory(make_access("here"), content=NEW)
    elsewhere.refresh_from_db()
    assert elsewhere.is_active
    assert saved.outcome.superseded == ()
    assert not Edge.objects.exists()


def test_the_model_sees_memories_of_the_callers_category_only(chat_server, known):
    access = make_access()
    mine = known(access, category="people")
    known(access, text="Clara lives in a house.", category="houses")
    save_memory(access, content=NEW, category="people")
    asked = chat_server.requests[-1].body["messages"][-1]["content"]
    assert str(mine.id) in asked
    assert "houses" not in asked


def test_a_fact_without_a_category_has_the_callers(chat_server):
    access = make_access()
    answers(chat_server, fact("Tea is hot.", category="drinks"), fact("Ice is cold."))
    save_memory(access, content="Tea is hot. Ice is cold.", category="facts")
    assert list(Memory.objects.order_by("text").values_list("category", flat=True)) == ["facts", "drinks"]


def test_of_two_saves_that_supersede_one_memory_at_once_the_second_is_told(chat_server, known, monkeypatch):
    access = make_access()
    old = known(access)
    both_know = threading.Barrier(2)
    plain = facts.store_facts

    def at_the_same_moment(job, found):
        both_know.wait(30)
        return plain(job, found)

    monkeypatch.setattr("memories.services.pipeline.store_facts", at_the_same_moment)
    chat_server.facts = lambda content, memories: [fact(content, (str(old.id), "Updates", None))]
    results = []

    def save(text):
        try:
            results.append(save_memory(access, content=text))
        finally:
            connection.close()

    threads = [threading.Thread(target=save, args=(f"Clara lives in {town}.",)) for town in ("Porto", "Faro")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    old.refresh_from_db()
    assert not old.is_active
    (winner,) = [saved for saved in results if saved.outcome.superseded]
    (loser,) = [saved for saved in results if saved.outcome.lost]
    assert old.superseded_by_id == winner.memory.id
    assert loser.outcome.lost == (old.id,)
    assert "by somebody else in the meantime" in WireWriteResult.of_save(loser).message


def test_the_same_facts_saved_at_once_are_stored_once(chat_server):
    access = make_access()
    failures = []

    def save(number):
        try:
            save_memory(access, content=f"Number {number}. Tea is hot. Ice is cold.")
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=save, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Memory.objects.filter(text="Tea is hot.").count() == 1
    assert Document.objects.filter(status=Status.PROCESSED).count() == 6


def test_without_similarity_nothing_is_superseded_and_the_answer_says_so(chat_server, known, remote_embeddings):
    access = make_access()
    old = known(access)
    updates(chat_server, old)
    remote_embeddings.modes["/embeddings"] = "401"
    saved = save_memory(access, content=NEW)
    old.refresh_from_db()
    assert old.is_active
    assert "Nothing was superseded" in saved.reason
    assert saved.embedding == Stage.PENDING


def test_a_note_that_people_edit_is_never_superseded_by_a_fact(chat_server, known):
    access = make_access()
    old = known(access)
    topic_of(old)
    updates(chat_server, old)
    saved = save_memory(access, content=NEW)
    old.refresh_from_db()
    assert old.is_active
    assert saved.outcome.contested == (old.id,)


def topic_of(memory):
    """Make a fact a note, as far as the database is concerned."""
    from spaces.models import Topic

    topic = Topic.objects.create(space_id=memory.space_id, path="people", slug="people", name="People")
    Memory.objects.filter(id=memory.id).update(title="Clara", slug="clara", topic=topic)


def test_a_save_of_what_is_known_word_for_word_asks_nobody(chat_server, known):
    access = make_access()
    old = known(access, category="people")
    saved = save_memory(access, content=OLD, category="people")
    assert saved.duplicate
    assert saved.memory.id == old.id
    assert not chat_server.requests
    assert Document.objects.count() == 1


def test_the_hash_of_a_fact_is_that_of_a_verbatim_save(chat_server):
    saved = save_memory(make_access(), content="Tea is hot. Ice is cold.", category="facts")
    assert bytes(saved.memory.content_hash) == content_hash("Tea is hot.", "facts")


def test_a_call_that_is_repeated_with_its_document_id_gives_what_became_of_it(chat_server):
    access = make_access()
    identifier = uuid.uuid4()
    first = save_memory(access, content=TEXT, document_id=identifier)
    again = save_memory(access, content=TEXT, document_id=identifier)
    assert [memory.id for memory in again.memories] == [memory.id for memory in first.memories]
    assert Document.objects.count() == 1
    assert Memory.objects.count() == 2
