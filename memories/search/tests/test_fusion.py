"""The arithmetic of the fused score."""

import pytest

from memories.search.fusion import MAXIMUM, Candidate, alone, fuse
from memories.search.service import _named


def candidate(identifier: str, cosine: float | None = None, words: float = 0.0, **other: object) -> Candidate:
    values: dict[str, object] = {"literal": 0.0, "created": 0.0, "author": "", "beginning": "", "has_source": False}
    return Candidate(id=identifier, cosine=cosine, words=words, **(values | other))


def test_a_memory_by_itself_is_its_stretched_cosine_and_twice_its_words():
    found = [candidate("a", 0.9, 0.5), candidate("b", 0.8), candidate("c", 0.85), candidate("d", None, 0.25)]
    assert alone(found, (0.8, 0.9)) == {"a": 2.0, "b": 0.0, "c": pytest.approx(0.5), "d": 0.5}


def test_a_single_cosine_counts_fully_and_one_beyond_the_extremes_is_clamped():
    assert alone([candidate("a", 0.3)], (0.3, 0.3)) == {"a": 1.0}
    assert alone([candidate("a", 0.1), candidate("b", 0.99)], (0.8, 0.9)) == {"a": 0.0, "b": 1.0}
    assert alone([candidate("a")], None) == {"a": 0.0}


def test_the_text_itself_counts_as_all_words():
    assert alone([candidate("a", None, 0.1, literal=1.0)], None) == {"a": 2.0}


def test_the_best_neighbour_and_the_author_are_added_and_the_most_is_one():
    found = [candidate(name) for name in "abcd"]
    by_itself = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 3.0}
    scores = {row.id: score for row, score in fuse(found, by_itself, {"a": {"b", "c"}, "d": {"b"}}, {"d"})}
    assert scores["a"] == pytest.approx((1.0 + 1.5) / MAXIMUM)
    assert scores["c"] == pytest.approx(2.0 / MAXIMUM)
    assert scores["d"] == pytest.approx(1.0)
    assert pytest.approx(4.65) == MAXIMUM


def test_equal_memories_are_ordered_by_age_then_id():
    found = [candidate("b"), candidate("a"), candidate("c", created=5.0)]
    ordered = [row.id for row, _ in fuse(found, dict.fromkeys("abc", 1.0), {}, set())]
    assert ordered == ["c", "a", "b"]


def test_a_name_counts_when_all_of_it_is_asked_for():
    found = [
        candidate("author", author="Ada Lovelace"),
        candidate("first name only", author="Ada Byron"),
        candidate("speaker", beginning="Ada: I like tea"),
        candidate(
            "no speaker", beginning="What Ada said: nothing at all was said by anybody in this long sentence here"
        ),
        candidate("nobody"),
    ]
    assert _named(found, {"does", "ada", "lovelace", "like", "tea"}) == {"author", "speaker"}
