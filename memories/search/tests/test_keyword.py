"""Search by keyword: as it is written, in other forms, misspelt."""

import pytest

from memories.search import keyword as keyword_search
from memories.search.service import search
from memories.search.tests.test_query import texts
from memories.tests.factories import make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("without_embeddings")]


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("The session expires after an hour.", "sesion"),
        ("The sesion expires after an hour.", "session"),
        ("Our supplier is Meyer.", "supplire"),
        ("The spectrometer stands in hall three.", "spektromter"),
        ("Die Häuser wurden verkauft.", "Hauser"),
        ("Der Straßenname wurde geändert.", "Strassenname"),
        ("Ask Björk about it.", "bjork"),
    ],
)
def test_a_misspelt_keyword_is_found(text, keyword):
    access = make_access()
    remember(access, text)
    remember(access, "Something else entirely.")
    result = search(access, keyword=keyword)
    assert texts(result) == [text]
    assert result.matches[0].score == 1.0
    assert result.legs == ("words", "literal")


@pytest.mark.parametrize(
    "keyword",
    ["100%", "snake_case", "C:\\temp", "a.b*", "(x|y)", "%", "_", "\\", "don't", '"quoted"', "$1", "{0}", "%s"],
)
def test_signs_mean_nothing_but_themselves(keyword):
    access = make_access()
    remember(access, f"before {keyword} after")
    remember(access, "100 snakeXcase C:/temp aXb xy dont quoted plain")
    assert texts(search(access, keyword=keyword)) == [f"before {keyword} after"]


@pytest.mark.parametrize("keyword", ["Go", "C#", "AI", "C++", "K8", "R", "IT", ".NET", "é", "ß"])
def test_keywords_of_one_or_two_letters_are_found(keyword):
    access = make_access()
    remember(access, f"We write {keyword} here.")
    remember(access, "mmmmm")
    assert texts(search(access, keyword=keyword)) == [f"We write {keyword} here."]
    assert texts(search(access, keyword=keyword.lower())) == [f"We write {keyword} here."]


def test_whole_words_come_before_parts_of_words_before_other_forms_before_misspelt_ones():
    access = make_access()
    ordered = [
        "The session begins.",
        "Sessionless servers are easy.",
        "A sesion was lost.",
    ]
    for text in (ordered[0], "An obsession with tea.", ordered[2]):
        remember(access, text)
    assert texts(search(access, keyword="session")) == [ordered[0], "An obsession with tea.", ordered[2]]


def test_the_newest_comes_first_among_equals():
    access = make_access()
    for number in range(5):
        remember(access, f"apples {number}")
    assert texts(search(access, keyword="apples")) == [f"apples {number}" for number in (4, 3, 2, 1, 0)]


def test_all_words_of_a_keyword_are_needed_in_any_order():
    access = make_access()
    remember(access, "red apples and green pears")
    remember(access, "red plums")
    assert texts(search(access, keyword="pears red")) == ["red apples and green pears"]


def test_a_part_of_a_compound_is_found():
    access = make_access(language="german")
    remember(access, "Die Datenbankverbindung bricht nachts ab.")
    remember(access, "Das Wetter ist gut.")
    assert texts(search(access, keyword="Datenbank")) == ["Die Datenbankverbindung bricht nachts ab."]
    assert texts(search(access, keyword="bankverb")) == ["Die Datenbankverbindung bricht nachts ab."]


def test_old_memories_are_found_when_the_newest_do_not_hold_the_keyword(monkeypatch):
    monkeypatch.setattr(keyword_search, "SCANNED", 2)
    access = make_access()
    remember(access, "An obsession with tea.")
    for number in range(5):
        remember(access, f"filler {number}")
    assert texts(search(access, keyword="obsess")) == ["An obsession with tea."]


def test_no_embedding_is_asked_for(monkeypatch):
    def refuse():
        raise AssertionError("the provider was asked")

    access = make_access()
    remember(access, "apples")
    monkeypatch.setattr("memories.search.service.searched_embedder", refuse)
    assert texts(search(access, keyword="apples")) == ["apples"]


def test_composed_and_decomposed_letters_are_the_same():
    access = make_access()
    remember(access, "Caf\u00e9 Central")
    assert texts(search(access, keyword="cafe\u0301")) == ["Café Central"]
