"""Statements that say much the same, for a forget by content."""

import pytest

from memories.search.service import similar_statements
from memories.tests.factories import make_access, remember

pytestmark = pytest.mark.django_db


def test_the_most_alike_come_first_with_their_cosine(embedder):
    access = make_access()
    remember(access, "the office closes at six")
    remember(access, "the office opens at nine")
    remember(access, "plums are blue")
    similar = similar_statements(access.space(None), "the office closes at six", limit=2)
    assert [memory.text for memory, _ in similar.matches] == ["the office closes at six", "the office opens at nine"]
    assert similar.matches[0][1] == pytest.approx(1, abs=1e-3)
    assert similar.matches[0][1] > similar.matches[1][1]
    assert similar.spec is embedder.spec


def test_a_memory_that_says_much_else_is_not_the_same_statement(embedder):
    access = make_access()
    statement = "the office closes at six " * 7
    remember(access, statement + "\n\n" + "and the canteen serves soup on mondays " * 20)
    ((_, similarity),) = similar_statements(access.space(None), statement, limit=3).matches
    assert similarity is not None
    assert similarity < 0.5


def test_a_text_that_says_much_else_is_not_the_same_statement(embedder):
    access = make_access()
    statement = "the office closes at six " * 7
    remember(access, statement)
    longer = statement + "\n\n" + "and the canteen serves soup on mondays " * 10
    ((_, similarity),) = similar_statements(access.space(None), longer, limit=3).matches
    assert similarity is not None
    assert similarity < 0.5


def test_long_texts_with_the_same_passages_are_alike(embedder):
    access = make_access()
    long = " ".join(f"passage{number} is about its own thing" for number in range(30))
    remember(access, long)
    ((_, similarity),) = similar_statements(access.space(None), long, limit=3).matches
    assert similarity == pytest.approx(1, abs=1e-3)


def test_a_very_long_text_is_compared_by_its_words(embedder):
    access = make_access()
    remember(access, "passage7")
    long = " ".join(f"passage{number} is about its own thing" for number in range(200))
    similar = similar_statements(access.space(None), long, limit=3)
    assert similar.spec is None
    assert [(memory.text, similarity) for memory, similarity in similar.matches] == [("passage7", None)]


def test_an_empty_space_has_nothing_alike(embedder):
    assert similar_statements(make_access().space(None), "anything", limit=3).matches == []
