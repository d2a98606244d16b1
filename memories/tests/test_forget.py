import threading

import pytest
from django.db import connection

from accounts.models import Role
from core.errors import AccessDenied, Invalid, NotFound
from memories.models import Embedding, Memory, MemoryTerm, SpaceStatistics, VocabularyTerm
from memories.services.forget import forget_by_content, forget_by_id
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from spaces.access import access_for_key
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db


def test_forgetting_by_id_takes_one_memory_out_of_search_and_keeps_the_record():
    access = make_access()
    memory = remember(access, "The office closes at six.")
    remember(access, "The office opens at eight.")
    assert [gone.id for gone in forget_by_id(access, memory.id).memories] == [memory.id]
    memory.refresh_from_db()
    assert not memory.is_active
    assert memory.text == "The office closes at six."
    assert not Embedding.objects.filter(memory_id=memory.id).exists()
    assert not MemoryTerm.objects.filter(memory_id=memory.id).exists()
    assert SpaceStatistics.objects.get(space_id=memory.space_id).memory_count == 1
    assert VocabularyTerm.objects.get(space_id=memory.space_id, term="offic").memory_count == 1


def test_forgetting_twice_changes_nothing():
    access = make_access()
    memory = remember(access, "Once.")
    forget_by_id(access, memory.id)
    assert forget_by_id(access, memory.id).memories == []


def test_a_forgotten_statement_can_be_saved_again():
    access = make_access()
    memory = remember(access, "Again.")
    forget_by_id(access, memory.id)
    assert remember(access, "Again.").id != memory.id


def test_a_colleagues_memory_keeps_its_author_and_names_who_forgot_it():
    space = make_space()
    author = make_access(space, person=make_person("Ada"))
    colleague = make_access(space, person=make_person("Bob"))
    memory = remember(author, "Shared.")
    forget_by_id(colleague, memory.id)
    memory.refresh_from_db()
    assert memory.created_by_id == author.user_id
    assert memory.updated_by_id == colleague.user_id


def test_someone_elses_memory_is_as_unknown_as_one_that_does_not_exist():
    memory = remember(make_access(), "Theirs.")
    access = make_access()
    with pytest.raises(NotFound) as theirs:
        forget_by_id(access, memory.id)
    with pytest.raises(NotFound) as nowhere:
        forget_by_id(access, "1b4e28ba-2fa1-41d2-883f-0016d3cca427")
    assert theirs.value.message.replace(str(memory.id), "") == nowhere.value.message.replace(
        "1b4e28ba-2fa1-41d2-883f-0016d3cca427", ""
    )
    memory.refresh_from_db()
    assert memory.is_active


def test_a_reader_may_not_forget():
    space = make_space()
    memory = remember(make_access(space), "Stays.")
    reader = make_access(space, person=make_person(role=Role.READER))
    for attempt in (lambda: forget_by_id(reader, memory.id), lambda: forget_by_content(reader, "Stays.")):
        with pytest.raises(AccessDenied):
            attempt()
    memory.refresh_from_db()
    assert memory.is_active


def test_a_named_space_narrows_forgetting_by_id():
    access = make_access("one", "two")
    memory = remember(access, "In one.", container_tag="one")
    with pytest.raises(NotFound):
        forget_by_id(access, memory.id, container_tag="two")
    assert forget_by_id(access, memory.id, container_tag="one").memories


def test_the_very_words_forget_every_copy():
    access = make_access()
    remember(access, "The office closes at six.", category="a")
    remember(access, "The office closes at six.", category="b")
    other = remember(access, "The office closes at seven.")
    assert len(forget_by_content(access, "The office closes at six.").memories) == 2
    other.refresh_from_db()
    assert other.is_active


def test_the_same_words_in_other_spelling_forget_too():
    access = make_access()
    memory = remember(access, "The office closes at six.")
    remember(access, "Lunch is at noon.")
    assert [gone.id for gone in forget_by_content(access, "the office closes at six").memories] == [memory.id]


@pytest.mark.parametrize(
    "request_text",
    ["Anna's favourite colour is green.", "Anna's favourite colour is not blue.", "What colour does Anna like?"],
)
def test_a_contradiction_or_paraphrase_changes_nothing_and_returns_candidates(request_text):
    access = make_access()
    memory = remember(access, "Anna's favourite colour is blue.")
    forgotten = forget_by_content(access, request_text)
    assert list(forgotten.memories) == []
    assert [candidate.memory.id for candidate in forgotten.candidates] == [memory.id]
    memory.refresh_from_db()
    assert memory.is_active


def test_nothing_similar_is_a_success_without_effect():
    forgotten = forget_by_content(make_access(), "Nobody said this.")
    assert list(forgotten.memories) == []
    assert list(forgotten.candidates) == []


def test_without_embeddings_the_words_decide_and_the_answer_says_so(settings):
    settings.EMBEDDINGS_PROVIDER = "none"
    access = make_access()
    memory = remember(access, "The office closes at six.")
    forgotten = forget_by_content(access, "When does the office close?")
    assert list(forgotten.memories) == []
    assert list(forgotten.degraded) == ["vector"]
    assert [gone.id for gone in forget_by_content(access, "The office closes at SIX").memories] == [memory.id]


@pytest.mark.parametrize("value", ["x", "", None, 5, "\ud800"])
def test_what_is_no_id_is_refused(value):
    with pytest.raises(Invalid):
        forget_by_id(make_access(), value)


def test_a_read_grant_on_one_space_does_not_lend_the_right_of_another():
    person = make_person()
    own, foreign = make_space(), make_space()
    memory = remember(make_access(foreign), "Elsewhere.")
    secret = make_key(person, own).secret
    reader = make_key(person, foreign, level=AccessLevel.READ).secret
    for key, error in ((secret, NotFound), (reader, AccessDenied)):
        access = access_for_key(key)
        assert access is not None
        with pytest.raises(error):
            forget_by_id(access, memory.id)


@pytest.mark.django_db(transaction=True)
def test_two_who_forget_the_same_at_once_forget_it_once():
    access = make_access()
    memories = [remember(access, f"shared words {number}") for number in range(6)]
    counts: list[int] = []

    def work(order: list[Memory]) -> None:
        try:
            counts.append(sum(len(forget_by_id(access, memory.id).memories) for memory in order))
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(order,)) for order in (memories, memories[::-1], memories)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 6
    statistics = SpaceStatistics.objects.get(space_id=access.space(None).id)
    assert (statistics.memory_count, statistics.term_total) == (0, 0)
    assert VocabularyTerm.objects.get(space_id=statistics.space_id, term="share").memory_count == 0
