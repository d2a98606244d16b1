"""memory_search: notes and facts of one project or of all, in topics, by tags."""

import pytest

from core.errors import Invalid, NotFound
from memories.search.entries import MAXIMUM_SPACES, search_entries
from memories.search.service import search
from memories.services.links import link_notes
from memories.services.notes import delete_note, set_status, update_note
from memories.tests.factories import make_access, make_space, remember
from memories.tests.notes import write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]


def titles(access, **criteria) -> list[str]:
    return [found.match.memory.title or found.match.memory.text for found in search_entries(access, **criteria).entries]


def test_notes_and_facts_are_found_by_words_and_told_apart():
    access = make_access("house")
    write(access, "Drying time", "Screed dries in 28 days.", topic="screed", tags=["build"])
    remember(access, "The screed was poured in March.")
    found = search_entries(access, query="How long does screed dry? 28 days").entries
    assert [entry.match.memory.is_note for entry in found] == [True, False]
    assert {entry.project for entry in found} == {"house"}
    assert found[0].match.memory.topic is not None
    assert found[0].score is not None
    assert found[0].score > 0
    assert [tag.name for tag in found[0].match.memory.tags.all()] == ["build"]


def test_a_topic_means_everything_below_it_and_no_facts():
    access = make_access("house")
    write(access, "One", "Screed here.", topic="floor")
    write(access, "Two", "Screed there.", topic="floor/bath")
    write(access, "Three", "Screed elsewhere.", topic="floors")
    remember(access, "Screed is a fact.")
    assert sorted(titles(access, query="screed", project="house", topic="floor")) == ["One", "Two"]
    assert titles(access, query="screed", project="house", topic="Floor/Bath") == ["Two"]
    assert len(titles(access, query="screed", project="house", topic=" ")) == 4
    with pytest.raises(NotFound, match="no topic"):
        search_entries(access, query="screed", project="house", topic="roof")
    with pytest.raises(Invalid, match="only be given with a project"):
        search_entries(access, query="screed", topic="floor")


def test_one_of_several_tags_is_enough():
    access = make_access("house")
    write(access, "One", "Screed here.", tags=["build"])
    write(access, "Two", "Screed there.", tags=["Roof", "other"])
    write(access, "Three", "Screed elsewhere.", tags=["garden"])
    assert sorted(titles(access, query="screed", tags=["BUILD", " roof ", ""])) == ["One", "Two"]
    assert len(titles(access, query="screed", tags=[])) == 3
    assert titles(access, query="screed", tags=["build"], topic="office", project="house") == ["One"]
    assert titles(access, query="%!?", tags=["build"]) == ["One"]


def test_a_blank_query_browses_tags_last_changed_first():
    access = make_access("house")
    one = write(access, "One", tags=["build"])
    write(access, "Two", tags=["build", "roof"])
    write(access, "Three", tags=["garden"])
    gone = write(access, "Gone", tags=["build"])
    delete_note(access, gone.id)
    set_status(access, one.id, "outdated")
    assert titles(access, query="  ", tags=["build", "roof"]) == ["One", "Two"]
    assert titles(access, query=None, tags=["build"], limit=1) == ["One"]
    assert titles(access, query="") == []
    assert search_entries(access, tags=["build"]).entries[0].score is None


def test_outdated_notes_are_found_and_deleted_ones_are_not():
    access = make_access("house")
    old, gone = write(access, "Old", "Screed old."), write(access, "Gone", "Screed gone.")
    set_status(access, old.id, "veraltet")
    delete_note(access, gone.id)
    (found,) = search_entries(access, query="screed").entries
    assert (found.match.memory.id, found.match.memory.status) == (old.id, "outdated")


def test_a_linked_note_is_found_with_its_neighbour_but_not_beyond_the_scope():
    access = make_access("house")
    one = write(access, "One", "Screed dries slowly.", topic="floor")
    other = write(access, "Invoice", "Paid in full.", topic="money")
    link_notes(access, one.id, other.id, "mentions")
    assert titles(access, query="screed", project="house")[:2] == ["One", "Invoice"]
    assert titles(access, query="screed", project="house", topic="floor") == ["One"]


def test_all_projects_are_searched_when_none_is_named_and_put_into_one_order():
    access = make_access("house", "office", "empty")
    for key, text in (("office", "Nothing of the kind."), ("house", "Screed dries in 28 days.")):
        remember(access, text, container_tag=key)
    found = search_entries(access, query="screed dries")
    assert [entry.project for entry in found.entries] == ["house", "office"]
    assert (found.searched, found.reachable) == (3, 3)
    assert titles(access, query="screed dries", project="office") == ["Nothing of the kind."]
    with pytest.raises(NotFound):
        search_entries(access, query="screed", project="elsewhere")


def test_only_so_many_projects_are_searched_and_it_says_so():
    spaces = [make_space() for _ in range(MAXIMUM_SPACES + 2)]
    access = make_access(*spaces)
    remember(access, "Screed.", container_tag=spaces[0].key)
    found = search_entries(access, query="screed")
    assert (found.searched, found.reachable) == (MAXIMUM_SPACES, MAXIMUM_SPACES + 2)
    assert [entry.project for entry in found.entries] == [spaces[0].key]


@pytest.mark.parametrize(("limit", "number"), [(0, 0), (2, 2), (1000, 3)])
def test_a_limit_counts_entries(limit, number):
    access = make_access()
    for title in ("One", "Two", "Three"):
        write(access, title, "Screed.", tags=["build"])
    assert len(search_entries(access, query="screed", limit=limit).entries) == number
    assert len(search_entries(access, tags=["build"], limit=limit).entries) == number


def test_a_negative_limit_is_refused():
    with pytest.raises(Invalid, match="limit must not be negative"):
        search_entries(make_access(), query="x", limit=-1)


def test_filters_apply_before_candidates_are_counted():
    """A hundred better matches outside of the topic leave the one inside in its place."""
    access = make_access("house")
    write(access, "Inside", "Screed and more words that make it longer than the others.", topic="floor", tags=["build"])
    for number in range(130):
        remember(access, f"Screed screed number{number}.")
    assert titles(access, query="screed", project="house", topic="floor") == ["Inside"]
    assert titles(access, query="screed", tags=["build"], limit=1) == ["Inside"]
    result = search(access, query="screed", tags=["build"], include_profile=False)
    assert [match.memory.title for match in result.matches] == ["Inside"]


def test_the_number_of_queries_does_not_grow_with_what_is_found(django_assert_max_num_queries):
    access = make_access("house")
    for number in range(12):
        note = write(access, f"Note {number}", "Screed dries.", topic=f"floor/{number}", tags=["build", f"t{number}"])
        update_note(access, note.id, text="Screed dries slowly.")
    with django_assert_max_num_queries(11):
        assert len(search_entries(access, query="screed dries", project="house", topic="floor").entries) == 10
    with django_assert_max_num_queries(2):
        assert len(search_entries(access, tags=["build"]).entries) == 10


def test_words_are_searched_when_meaning_does_not_answer(embedder):
    access = make_access("house")
    write(access, "One", "Screed dries.")
    embedder.is_down = True
    found = search_entries(access, query="screed slowly")
    assert [entry.match.memory.title for entry in found.entries] == ["One"]
    assert found.degraded == ("vector",)
