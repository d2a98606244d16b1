"""What stands beside a memory lifts it: source, document, session, links; and a named author."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from memories.models import Memory
from memories.search.service import search
from memories.search.tests.test_query import texts
from memories.services.forget import forget_by_id
from memories.tests.factories import link, make_access, make_person, make_space, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]
MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUESTION = "what is your favourite colour"


def rank(access, text, query=QUESTION):
    return texts(search(access, query=query, limit=50)).index(text)


def fill(access, number=30):
    for index in range(number):
        remember(access, f"note {index} about gardens", source=f"other {index}", at=MOMENT - timedelta(days=index + 1))


def test_the_answer_after_the_question_is_found_with_it():
    access = make_access()
    fill(access)
    remember(access, QUESTION, source="chat 1", at=MOMENT)
    remember(access, "blue of course", source="chat 1", at=MOMENT + timedelta(hours=3))
    remember(access, "green of course", source="chat 2", at=MOMENT + timedelta(hours=4))
    assert texts(search(access, query=QUESTION))[:2] == [QUESTION, "blue of course"]


def test_only_the_adjacent_ones_of_a_source_are_neighbours():
    access = make_access()
    fill(access)
    for number, text in enumerate([QUESTION, "hm let me think", "blue of course"]):
        remember(access, text, source="chat", at=MOMENT + timedelta(minutes=number))
    assert texts(search(access, query=QUESTION))[:2] == [QUESTION, "hm let me think"]


def test_memories_of_one_document_are_neighbours():
    access = make_access()
    fill(access)
    asked = remember(access, QUESTION, at=MOMENT)
    answered = remember(access, "blue of course", at=MOMENT + timedelta(days=2))
    assert rank(access, "blue of course") > 1
    Memory.objects.filter(id=answered.id).update(document_id=asked.document_id)
    assert rank(access, "blue of course") == 1


def test_a_session_is_the_same_key_within_ten_minutes():
    space = make_space()
    one, other = make_access(space), make_access(space)
    fill(one)
    remember(one, QUESTION, at=MOMENT)
    remember(other, "green of course", at=MOMENT + timedelta(minutes=1))
    remember(one, "blue of course", at=MOMENT + timedelta(minutes=9))
    found = texts(search(one, query=QUESTION))
    assert found[:2] == [QUESTION, "blue of course"]
    Memory.objects.filter(text="blue of course").update(created_at=MOMENT + timedelta(minutes=11))
    assert rank(one, "blue of course") > 1


def test_a_linked_memory_is_a_neighbour_in_either_direction():
    for forwards in (True, False):
        access = make_access()
        fill(access)
        asked = remember(access, QUESTION, source="a", at=MOMENT)
        answered = remember(access, "blue of course", source="b", at=MOMENT)
        link(asked, answered) if forwards else link(answered, asked)
        assert rank(access, "blue of course") == 1


def test_a_neighbour_that_was_forgotten_does_not_come_along():
    access = make_access()
    remember(access, QUESTION, source="chat", at=MOMENT)
    answered = remember(access, "blue of course", source="chat", at=MOMENT + timedelta(minutes=1))
    forget_by_id(access, answered.id)
    assert texts(search(access, query=QUESTION)) == [QUESTION]


def test_who_is_named_in_full_comes_first():
    space = make_space()
    ada, grace = (make_access(space, person=make_person(name)) for name in ("Ada Lovelace", "Grace Hopper"))
    remember(ada, "I like tea", category="y", source="tea1", at=MOMENT)
    remember(grace, "I like tea", category="x", source="tea2", at=MOMENT + timedelta(days=1))
    authors = [m.memory.created_by.display_name for m in search(ada, query="does Ada Lovelace like tea").matches]
    assert authors == ["Ada Lovelace", "Grace Hopper"]
    assert search(ada, query="do you like tea").matches[0].memory.created_by.display_name == "Grace Hopper"


def test_who_speaks_at_the_beginning_of_a_memory_counts_as_its_author():
    access = make_access()
    remember(access, "Caroline: I painted a picture of the lake", source=str(uuid.uuid4()), at=MOMENT)
    remember(access, "Melanie: I painted a picture of the lake", source=str(uuid.uuid4()), at=MOMENT)
    for name in ("Caroline", "Melanie"):
        assert texts(search(access, query=f"what did {name} paint"))[0].startswith(name)


def test_the_source_can_be_asked_for():
    access = make_access()
    remember(access, "tea was served", source="standup-zurich")
    remember(access, "tea was served", category="x", source="standup-bern")
    assert search(access, query="tea at the zurich standup").matches[0].memory.source == "standup-zurich"


def test_a_forgotten_memory_in_between_does_not_part_neighbours():
    access = make_access()
    fill(access)
    between = [
        remember(access, text, source="chat", at=MOMENT + timedelta(minutes=number))
        for number, text in enumerate([QUESTION, "hm let me think", "blue of course"])
    ][1]
    forget_by_id(access, between.id)
    assert texts(search(access, query=QUESTION))[:2] == [QUESTION, "blue of course"]
