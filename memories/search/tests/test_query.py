import pytest

from memories.search.service import search
from memories.tests.factories import make_access, remember

pytestmark = pytest.mark.django_db


def texts(result):
    return [match.memory.text for match in result.matches]


def test_a_question_finds_by_meaning_what_it_shares_no_word_with():
    access = make_access()
    remember(access, "Our lawyer is called Fatima Haddad.")
    remember(access, "The bakery on the corner sells rye bread.")
    remember(access, "Deployments happen on Tuesdays.")
    result = search(access, query="Who gives us legal advice?")
    assert texts(result)[0] == "Our lawyer is called Fatima Haddad."
    assert result.legs[:2] == ("vector", "words")
    assert result.degraded == ()
    assert set(result.matches[0].scores) == {"vector"}


def test_keyword():
    access = make_access()
    remember(access, "The session expires after an hour.")
    remember(access, "The bakery on the corner sells rye bread.")
    assert texts(search(access, keyword="sesion")) == ["The session expires after an hour."]
    assert texts(search(access, query="sesion"))[0] == "The session expires after an hour."
