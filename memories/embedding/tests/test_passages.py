"""Long texts become passages that leave nothing out."""

import itertools
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import is_blank
from memories.embedding.local import LocalEmbedder
from memories.embedding.passages import passage_spans, split_passages

E5 = LocalEmbedder().spec
SMALL = replace(E5, chunk_characters=40)

TEXTS = st.text(st.sampled_from("abc. \n\t!?é\u0301\u200d👍🏽茶。、ไทยनीمرحبا-"), max_size=400)


@given(TEXTS)
def test_passages_cover_the_whole_text_in_order(text):
    spans = list(passage_spans(text, SMALL))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for (start, end), (following, following_end) in itertools.pairwise(spans):
        assert start < following <= end < following_end


@given(TEXTS)
def test_everything_that_can_be_seen_is_in_a_passage(text):
    passages = split_passages(text, SMALL)
    assert not any(is_blank(passage) for passage in passages)
    seen = {character for passage in passages for character in passage}
    assert all(character in seen or is_blank(character) for character in text)


@given(TEXTS)
def test_no_passage_is_longer_than_the_model_reads(text):
    assert all(len(passage) <= SMALL.chunk_characters for passage in split_passages(text, SMALL))


def test_a_text_that_fits_is_one_passage_as_it_is():
    assert split_passages("  Ada likes tea.\n", E5) == ["  Ada likes tea.\n"]


@pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
def test_blank_text_has_no_passages(text):
    assert split_passages(text, E5) == []


def test_passages_end_at_paragraphs_where_they_can():
    first, second = "a" * 25, "b" * 30
    assert split_passages(f"{first}\n\n{second}", SMALL) == [first, second]


def test_passages_end_at_sentences_and_share_none_that_is_long():
    text = "The office closes at six. Ada has the key to it."
    assert split_passages(text, SMALL) == ["The office closes at six.", "Ada has the key to it."]


def test_words_are_not_cut_and_neighbours_share_a_few():
    words = [f"word{number}" for number in range(40)]
    passages = split_passages(" ".join(words), replace(E5, chunk_characters=100))
    assert all(word in words for passage in passages for word in passage.split())
    assert passages[0].split()[-1] == passages[1].split()[0]


def test_the_last_line_of_a_long_text_is_found():
    text = "\n".join(f"Line {number} of the log says nothing." for number in range(6_000))[:199_950]
    passages = split_passages(text + "\nThe door code is 4711.", E5)
    assert "The door code is 4711." in passages[-1]


@pytest.mark.parametrize(
    ("text", "most"),
    [("茶を飲む。", 300), ("👍", 300), ("ไทย", 600), ("हिन्दी", 600), ("مرحبا", 600), ("a", 900)],
)
def test_dense_scripts_get_shorter_passages(text, most):
    passages = split_passages(text * 2_000, E5)
    assert most * 0.45 <= max(len(passage) for passage in passages) <= most


def test_combining_sequences_stay_together():
    passages = split_passages("e\u0301" * 500, SMALL)
    assert not any(unicodedata.combining(passage[0]) for passage in passages)
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert set("".join(split_passages(family * 60, replace(E5, chunk_characters=100))).split(family)) == {""}


def test_endless_combining_marks_are_split_all_the_same():
    text = "e" + "\u0301" * 1_000
    assert sum(len(passage) for passage in split_passages(text, SMALL)) >= len(text)
