"""A forgotten or superseded memory comes back, findable, and as what it was."""

import threading

import pytest
from django.db import connection

from accounts.models import Role
from core.errors import AccessDenied, Conflict, Invalid, NotFound
from memories.models import Memory, MemoryTerm, PendingEmbedding, SpaceStatistics, VocabularyTerm
from memories.queries import get_memory, list_memories
from memories.search.service import search
from memories.services.embeddings import embed_pending
from memories.services.forget import deactivate, forget_by_content, forget_by_id
from memories.services.restore import restore_memory
from memories.tests.factories import make_access, make_person, make_space, remember

pytestmark = pytest.mark.django_db


def counts(space_id) -> tuple[int, int, list[tuple[str, int]]]:
    """Everything that words are weighed by."""
    statistics = SpaceStatistics.objects.get(space_id=space_id)
    terms = VocabularyTerm.objects.filter(space_id=space_id, memory_count__gt=0).order_by("term")
    return statistics.memory_count, statistics.term_total, list(terms.values_list("term", "memory_count"))


def test_words_and_counts_are_as_if_it_had_never_been_forgotten():
    access = make_access()
    memory = remember(access, "The office closes at six.", category="office", source="handbook")
    remember(access, "The office opens at eight.")
    before = counts(memory.space_id), MemoryTerm.objects.filter(memory_id=memory.id).count()
    forget_by_id(access, memory.id)
    assert counts(memory.space_id) != before[0]
    assert restore_memory(access, memory.id).changed
    assert (counts(memory.space_id), MemoryTerm.objects.filter(memory_id=memory.id).count()) == before


def test_it_is_found_by_its_words_at_once_and_by_its_meaning_after_the_worker():
    access = make_access()
    memory = remember(access, "The office closes at six.")
    forget_by_id(access, memory.id)
    assert search(access, keyword="office").matches == []
    restore_memory(access, memory.id)
    assert [match.memory.id for match in search(access, keyword="office").matches] == [memory.id]
    assert PendingEmbedding.objects.get().memory_id == memory.id
    assert embed_pending() == 1
    (match,) = search(access, query="When is closing time?").matches
    assert "vector" in match.scores


def test_a_superseded_memory_comes_back_and_is_superseded_no_more():
    access = make_access()
    old, new = remember(access, "Six."), remember(access, "Seven.")
    deactivate(access, access.space(None), [old.id], superseded_by=new.id)
    assert get_memory(access, old.id).superseded_by_id == new.id
    restored = restore_memory(access, old.id).memory
    assert (restored.is_active, restored.superseded_by_id) == (True, None)


def test_who_forgot_a_colleagues_memory_is_told_until_it_is_restored():
    space = make_space()
    author = make_access(space, person=make_person("Ada"))
    colleague = make_access(space, person=make_person("Bob"))
    memory = remember(author, "Shared.")
    forget_by_id(colleague, memory.id, reason="  No longer\ntrue. ")
    (listed,) = list_memories(author).items
    assert listed.deactivated_by.display_name == "Bob"
    assert listed.deactivated_at == listed.updated_at
    assert listed.deactivation_reason == "No longer true."
    restored = restore_memory(author, memory.id).memory
    assert (restored.deactivated_by, restored.deactivated_at, restored.deactivation_reason) == (None, None, "")
    assert (restored.created_by_id, restored.updated_by_id) == (author.user_id, author.user_id)
    assert restored.created_at == memory.created_at


def test_the_reason_is_kept_for_a_forget_by_content_and_must_be_short():
    access = make_access()
    memory = remember(access, "Once.")
    with pytest.raises(Invalid, match="reason is too long"):
        forget_by_id(access, memory.id, reason="x" * 501)
    forget_by_content(access, "Once.", reason="Said by mistake.")
    assert get_memory(access, memory.id).deactivation_reason == "Said by mistake."


def test_restoring_what_is_active_changes_nothing():
    access = make_access()
    memory = remember(access, "Here.")
    before = counts(memory.space_id)
    assert not restore_memory(access, memory.id).changed
    assert counts(memory.space_id) == before
    assert get_memory(access, memory.id).updated_at == memory.updated_at


def test_what_was_said_again_is_named_and_nothing_changes():
    access = make_access()
    memory = remember(access, "Again.")
    forget_by_id(access, memory.id)
    twin = remember(access, "Again.")
    before = counts(memory.space_id)
    with pytest.raises(Conflict, match=str(twin.id)):
        restore_memory(access, memory.id)
    assert counts(memory.space_id) == before
    assert not get_memory(access, memory.id).is_active


def test_a_reader_may_not_restore_and_an_outsider_finds_nothing():
    space = make_space()
    writer = make_access(space)
    memory = remember(writer, "Gone.")
    forget_by_id(writer, memory.id)
    with pytest.raises(AccessDenied):
        restore_memory(make_access(space, person=make_person(role=Role.READER)), memory.id)
    with pytest.raises(NotFound):
        restore_memory(make_access(), memory.id)
    with pytest.raises(NotFound):
        restore_memory(make_access(space, "second"), memory.id, container_tag="second")
    assert not get_memory(writer, memory.id).is_active


@pytest.mark.django_db(transaction=True)
def test_two_who_restore_at_once_count_it_once():
    access = make_access()
    memory = remember(access, "Counted once.")
    forget_by_id(access, memory.id)
    changed: list[bool] = []
    start = threading.Barrier(2)

    def restore() -> None:
        start.wait()
        changed.append(restore_memory(access, memory.id).changed)
        connection.close()

    threads = [threading.Thread(target=restore) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(changed) == [False, True]
    assert SpaceStatistics.objects.get(space_id=memory.space_id).memory_count == 1
    assert Memory.objects.get(id=memory.id).is_active
