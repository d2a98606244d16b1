"""Umlauts with dots, without, and written out are one spelling, in texts and in questions."""

import pytest

from memories.models import SpaceStatistics
from memories.search.service import search
from memories.services import terms
from memories.services.reindex import reindex_outdated
from memories.services.terms import WORDS_VERSION, fold_umlauts
from memories.tests.factories import make_access, remember
from memories.tests.notes import write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("without_embeddings")]

SPELLINGS = [
    ("Müller", "Mueller", "Muller"),
    ("Wärmepumpe", "Waermepumpe", "Warmepumpe"),
    ("Häuser", "Haeuser", "Hauser"),
    ("Öl", "Oel", "Ol"),
    ("Übung", "Uebung", "Ubung"),
    ("Größe", "Groesse", "Grosse"),
    ("München", "Muenchen", "Munchen"),
    ("Straße", "Strasse", "STRASSE"),
    ("Küste", "Kueste", "Kuste"),
]


@pytest.mark.parametrize("language", ["english", "german", "simple", "french"])
@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda spellings: spellings[0])
def test_every_spelling_finds_every_other(language, spellings):
    access = make_access(language=language)
    memories = {remember(access, f"{word} wartet.").id for word in dict.fromkeys(spellings)}
    remember(access, "Niemand sonst.")
    for asked in spellings:
        for criteria in ({"query": asked}, {"keyword": asked}):
            found = search(access, limit=len(memories), **criteria)
            assert {match.memory.id for match in found.matches} == memories, (asked, criteria)


@pytest.mark.parametrize(
    "word", ["fuel", "fuels", "poet", "poems", "guest", "guests", "values", "continued", "does", "shoes", "queue",
             "quelle", "neue", "steuer", "michael", "israel", "blue", "toe", "cruel", "duet", "request", "question"],
)  # fmt: skip
def test_words_that_only_look_like_it_are_left_alone(word):
    assert fold_umlauts(word) == word


@pytest.mark.parametrize("language", ["finnish", "swedish", "turkish", "hungarian"])
def test_letters_of_their_own_are_kept(language):
    assert fold_umlauts("sää", language) == "sää"


def test_a_word_in_a_title_or_a_tag_is_folded_too():
    access = make_access()
    note = write(access, "Angebot für Müller", "Text.", tags=["dächer"])
    for asked in ("Mueller", "muller", "Daecher", "Dacher"):
        assert [match.memory.id for match in search(access, query=asked).matches] == [note.id]


def test_an_author_is_named_in_any_spelling():
    from memories.tests.factories import make_person, make_space

    space = make_space()
    theirs = make_access(space, person=make_person("Jörg Müller"))
    others = make_access(space, person=make_person("Ada Lovelace"))
    remember(others, "The office closes at six, says Joerg.")
    memory = remember(theirs, "The office closes at seven.")
    assert search(others, query="When does the office close, Joerg Mueller?").matches[0].memory.id == memory.id


def test_spaces_that_were_indexed_by_older_rules_are_indexed_anew(monkeypatch):
    access, current = make_access(), make_access()
    remember(current, "Nothing to do here.")
    with monkeypatch.context() as older:
        older.setattr(terms, "fold_umlauts", lambda word, stemmer="simple": word)
        memory = remember(access, "Müller wartet.")
    SpaceStatistics.objects.filter(space_id=access.spaces[0].id).update(words_version=1)
    # As a misspelt word at best.
    before = search(access, query="Mueller").matches[0].score
    assert reindex_outdated() == 1
    (after,) = search(access, query="Mueller").matches
    assert (after.memory.id, after.score > before) == (memory.id, True)
    assert set(SpaceStatistics.objects.values_list("words_version", flat=True)) == {WORDS_VERSION}
    assert reindex_outdated() == 0
