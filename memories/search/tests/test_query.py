"""Search by meaning and words."""

from datetime import UTC, datetime

import pytest

from core.errors import Invalid, NotFound
from memories.models import Memory
from memories.search.results import SearchResult
from memories.search.service import search
from memories.tests.factories import make_access, make_person, make_space, remember

pytestmark = pytest.mark.django_db
MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def texts(result: SearchResult) -> list[str]:
    return [match.memory.text for match in result.matches]


def test_a_question_finds_by_meaning_what_it_shares_no_word_with():
    access = make_access()
    remember(access, "Our lawyer is called Fatima Haddad.")
    remember(access, "The bakery on the corner sells rye bread.")
    remember(access, "Deployments happen on Tuesdays.")
    result = search(access, query="Who gives us legal advice?")
    assert texts(result)[0] == "Our lawyer is called Fatima Haddad."
    assert result.legs == ("vector", "words")
    assert result.degraded == ()
    assert set(result.matches[0].scores) == {"vector"}


def test_a_german_question_finds_an_english_memory():
    access = make_access()
    remember(access, "The office closes at six in the evening.")
    remember(access, "Ada prefers tea without sugar.")
    assert texts(search(access, query="Wann macht das Büro zu?"))[0] == "The office closes at six in the evening."


def test_the_last_line_of_a_long_memory_is_found_by_meaning():
    access = make_access()
    filler = "\n".join(
        f"Item {number}: the shelf in the storage room was counted and found in order." for number in range(40)
    )
    remember(access, filler + "\nThe password of the alarm system is kept by the janitor.")
    remember(access, "The shelf was painted.")
    found = search(access, query="Who knows the secret code that switches off the burglar alarm?").matches[0]
    assert found.memory.text.startswith("Item 0")
    assert found.scores["vector"] > 0.8


def test_words_and_vectors_are_fused_and_each_leg_shows_its_value(embedder):
    access = make_access()
    remember(access, "Ada signs off releases")
    remember(access, "Grace signs contracts")
    remember(access, "the canteen opens at noon")
    result = search(access, query="who signs releases")
    assert texts(result) == ["Ada signs off releases", "Grace signs contracts", "the canteen opens at noon"]
    best = result.matches[0]
    assert 0 < best.scores["words"] <= 1
    assert -1 <= best.scores["vector"] <= 1
    assert all(0 <= match.score <= 1 for match in result.matches)
    assert [match.score for match in result.matches] == sorted((m.score for m in result.matches), reverse=True)


def test_a_rare_word_counts_more_than_a_common_one(without_embeddings):
    access = make_access()
    for number in range(20):
        remember(access, f"meeting about topic {number}")
    remember(access, "spectrometer")
    remember(access, "meeting meeting meeting")
    assert texts(search(access, query="meeting spectrometer"))[0] == "spectrometer"


def test_a_misspelt_question_word_is_led_to_the_known_one(without_embeddings):
    access = make_access()
    remember(access, "The session expires after an hour.")
    remember(access, "The bakery sells rye bread.")
    result = search(access, query="sesion")
    assert texts(result) == ["The session expires after an hour."]
    assert result.legs == ("words", "literal")
    assert result.matches[0].scores["words"] < 0.6


def test_numbers_are_never_taken_for_misspelt(without_embeddings):
    access = make_access()
    remember(access, "Invoice 48213 was paid.")
    assert texts(search(access, query="48214")) == []


def test_nothing_but_stop_words_is_looked_for_as_it_is(without_embeddings):
    access = make_access()
    remember(access, "To be, or not to be: that is the question.")
    remember(access, "The bakery sells rye bread.")
    result = search(access, query="to be, or not to be")
    assert texts(result) == ["To be, or not to be: that is the question."]
    assert result.matches[0].scores == {"literal": 1.0}
    assert "literal" in result.legs


def test_equal_memories_stand_in_a_stable_order_the_newest_first(embedder):
    access = make_access()
    memories = [
        remember(access, "The same words.", category=f"c{number}", source=f"s{number}", at=MOMENT)
        for number in range(12)
    ]
    newest = remember(access, "The same words.", category="z", source="z")
    for other in Memory.objects.exclude(id=newest.id):
        assert other.created_at == MOMENT
    orders = [[match.memory.id for match in search(access, query="same words", limit=50).matches] for _ in range(3)]
    assert orders[0] == orders[1] == orders[2]
    assert orders[0] == [newest.id, *sorted((memory.id for memory in memories), key=str)]


def test_the_space_comes_first_then_the_criteria():
    access = make_access("here")
    with pytest.raises(NotFound):
        search(access, container_tag="elsewhere")
    for blank in (None, "", "  \n", "\u200b"):
        with pytest.raises(Invalid, match="query, keyword and category"):
            search(access, query=blank, keyword=blank, category=blank)


def test_over_long_input_is_refused_with_its_limit():
    access = make_access()
    for field, maximum in (("query", 10_000), ("keyword", 500), ("category", 100)):
        with pytest.raises(Invalid, match=f"{maximum:,}"):
            search(access, **{field: "x" * (maximum + 1)})


def test_a_query_of_the_greatest_length_is_answered(embedder):
    access = make_access()
    remember(access, "The office closes at six.")
    words = " ".join(f"word{number}x office" for number in range(2_000))[:10_000]
    assert texts(search(access, query=words)) == ["The office closes at six."]


def test_query_wins_over_keyword_and_blank_is_absent(embedder):
    access = make_access()
    remember(access, "red apples")
    remember(access, "blue plums")
    assert texts(search(access, query="apples", keyword="plums"))[0] == "red apples"
    assert texts(search(access, query=" ", keyword="plums")) == ["blue plums"]


def test_the_limit_is_clamped(embedder):
    access = make_access()
    for number in range(55):
        remember(access, f"apples number {number}")
    assert [len(search(access, query="apples", limit=limit).matches) for limit in (-1, 0, 3, 50, 1000)] == [
        10,
        10,
        3,
        50,
        50,
    ]


def test_the_profile_is_the_five_newest_whatever_is_asked(embedder):
    access = make_access()
    for number in range(7):
        remember(access, f"fact {number}")
    result = search(access, query="fact 0")
    assert result.profile is not None
    assert [memory.text for memory in result.profile] == [f"fact {number}" for number in (6, 5, 4, 3, 2)]
    assert search(access, query="fact", include_profile=False).profile is None
    assert search(make_access(), category="none").profile == []


def test_authors_come_with_the_matches_without_more_queries(embedder, django_assert_num_queries):
    space = make_space()
    for number in range(12):
        access = make_access(space, person=make_person(f"Person {number}"))
        remember(access, f"apples number {number}")
    with django_assert_num_queries(5):
        result = search(access, query="apples")
        assert len({match.memory.created_by.display_name for match in result.matches if match.memory.created_by}) == 10


def test_a_search_takes_at_most_seven_queries(embedder, django_assert_max_num_queries):
    from memories.tests.factories import link

    access = make_access()
    memories = [remember(access, f"apples of the harvest {number}") for number in range(30)]
    for memory in memories[1:]:
        link(memory, memories[0])
    with django_assert_max_num_queries(7):
        search(access, query="harvset appels")
    with django_assert_max_num_queries(5):
        search(access, keyword="harvset")
    with django_assert_max_num_queries(4):
        search(access, category="fruit")


def test_reading_writes_nothing(embedder, django_assert_max_num_queries):
    access = make_access()
    remember(access, "apples")
    with django_assert_max_num_queries(7) as captured:
        search(access, query="apples")
    assert not [
        q for q in captured.captured_queries if q["sql"].lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE"))
    ]
