"""A search never leaves its space, and never finds what was forgotten."""

import pytest

from core.errors import NotFound
from memories.models import Edge, RelationType
from memories.search.service import search, similar_statements
from memories.search.tests.doubles import use_embedder
from memories.services.forget import forget_by_id
from memories.tests.factories import link, make_access, make_space, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]

TEXTS = ["the alarm code is 4711", "会议改到星期三", "the session expires", "blue"]
WAYS = [
    {"query": "alarm code"},
    {"query": "会议"},
    {"query": "sesion"},
    {"query": "the and of"},
    {"keyword": "alarm"},
    {"keyword": "sesion"},
    {"keyword": "会"},
    {"category": "secret"},
    {"query": "alarm", "category": "secret"},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_two_tenants_with_the_same_texts_find_their_own(way):
    ours, theirs = make_access(), make_access()
    own = set()
    for text in TEXTS:
        own.add(remember(ours, text, category="secret", source="chat").id)
        remember(theirs, text, category="secret", source="chat")
    result = search(ours, **way)
    found = {match.memory.id for match in result.matches} | {memory.id for memory in result.profile or []}
    assert found <= own
    assert result.matches or way == {"query": "the and of"}


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_empty_space_beside_a_full_one_finds_nothing(way):
    empty, full = make_access(), make_access()
    for text in TEXTS:
        remember(full, text, category="secret")
    result = search(empty, **way)
    assert result.matches == []
    assert result.profile == []


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_was_forgotten_is_not_found(way):
    access = make_access()
    memories = [remember(access, text, category="secret", source="chat") for text in TEXTS]
    link(memories[0], memories[1])
    for memory in memories:
        forget_by_id(access, memory.id)
    result = search(access, **way)
    assert result.matches == []
    assert result.profile == []
    assert similar_statements(access.space(None), TEXTS[0], limit=5).matches == []


def test_one_key_with_two_spaces_searches_the_one_that_is_named():
    access = make_access("one", "two")
    remember(access, "apples", container_tag="one")
    second = remember(access, "apples", container_tag="two")
    result = search(access, query="apples", container_tag="two")
    assert [match.memory.id for match in result.matches] == [second.id]
    assert result.searched_space.key == "two"


def test_an_edge_that_leaves_the_space_leads_nowhere():
    ours, theirs = make_access(), make_access()
    here, there = remember(ours, "apples"), remember(theirs, "their secret")
    for space_id in (here.space_id, there.space_id):
        Edge.objects.create(
            space_id=space_id, from_memory=here, to_memory=there, relation_type=RelationType.UPDATES, note="x"
        )
    result = search(ours, query="apples")
    assert [match.memory.id for match in result.matches] == [here.id]
    assert result.matches[0].related == ()


def test_a_key_without_spaces_searches_nothing():
    access = make_access(make_space("theirs"))
    stranger = make_access()
    remember(access, "apples")
    with pytest.raises(NotFound):
        search(stranger, query="apples", container_tag="theirs")


def test_many_better_matches_of_another_tenant_take_no_place():
    ours, theirs = make_access(), make_access()
    own = remember(ours, "apples stand at the very end of quite a long memory about other things")
    for number in range(250):
        remember(theirs, "apples", category=str(number))
    (match,) = search(ours, query="apples").matches
    assert match.memory.id == own.id
    assert set(match.scores) == {"vector", "words"}
    (match,) = search(ours, query="nothing known").matches
    assert set(match.scores) == {"vector"}


def test_many_better_word_matches_of_another_tenant_take_no_place(monkeypatch):
    use_embedder(monkeypatch, None)
    ours, theirs = make_access(), make_access()
    own = remember(ours, "apples stand at the very end of quite a long memory about other things")
    before = search(ours, query="apples").matches
    for number in range(120):
        remember(theirs, "apples", category=str(number))
    assert search(ours, query="apples").matches == before
    assert [match.memory.id for match in before] == [own.id]
