"""Categories: alone, and as a filter of the other ways to search."""

import pytest

from memories.search.service import search
from memories.search.tests.test_query import texts
from memories.tests.factories import make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]


def test_a_category_alone_lists_its_newest():
    access = make_access()
    for number in range(12):
        remember(access, f"apple {number}", category="fruit")
    remember(access, "a chair", category="furniture")
    result = search(access, category="fruit", limit=3)
    assert texts(result) == ["apple 11", "apple 10", "apple 9"]
    assert {match.score for match in result.matches} == {1.0}
    assert result.legs == ("category",)
    assert texts(search(access, category="Fruit")) == []


@pytest.mark.parametrize("by", ["query", "keyword"])
def test_a_category_filters_before_anything_is_counted(by):
    access = make_access()
    wanted = remember(access, "apples of the old tree", category="kept")
    for number in range(120):
        remember(access, f"apples {number}", category="other", source=f"s{number}")
    result = search(access, category="kept", **{by: "apples"})
    assert [match.memory.id for match in result.matches] == [wanted.id]


def test_neighbours_of_another_category_stay_out():
    access = make_access()
    remember(access, "what is your favourite colour", category="asked", source="chat")
    remember(access, "blue", category="answered", source="chat")
    assert texts(search(access, query="favourite colour", category="asked")) == ["what is your favourite colour"]
