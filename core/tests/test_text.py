import unicodedata
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from core.text import clean_line, clean_moment, clean_text, clean_uuid, excerpt, excerpt_around, is_blank, optional_line


def test_text_is_normalised_to_nfc_and_loses_nul_characters():
    assert clean_text("cafe\u0301\x00 ", "content", maximum=10) == "café "


def test_a_lone_surrogate_is_refused():
    with pytest.raises(Invalid, match="surrogate"):
        clean_text("a\ud800", "content", maximum=10)


@pytest.mark.parametrize("value", ["", " \n\t", "\u200b", "\x00", "\u2028\u00a0"])
def test_what_nobody_can_see_is_blank(value):
    with pytest.raises(Invalid, match="content must not be empty"):
        clean_text(value, "content", maximum=10)


@pytest.mark.parametrize("value", [1, 1.5, ["a"], {"a": 1}, b"a", True])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(Invalid, match="must be text"):
        clean_text(value, "content", maximum=10)


def test_the_limit_is_told_with_the_length():
    with pytest.raises(Invalid, match="1,001 characters, at most 1,000"):
        clean_text("a" * 1001, "title", maximum=1000)


def test_a_line_has_no_line_breaks_and_trimmed_ends():
    assert clean_line(" a\r\n\tb\x07 ", "title", maximum=10) == "a b"


def test_a_blank_optional_line_is_not_given():
    assert optional_line("  ", "category", maximum=10) is None
    assert optional_line(None, "category", maximum=10) is None
    assert optional_line(" work ", "category", maximum=10) == "work"


@pytest.mark.parametrize("value", ["", "x", "1b4e28ba-2fa1-41d2-883f", None, 7, "\ud800", "1b4e28ba" * 100])
def test_what_is_no_id_is_refused(value):
    with pytest.raises(Invalid, match="documentId must be an id"):
        clean_uuid(value, "documentId")


@given(st.text())
def test_cleaned_text_is_storable_and_stays_as_it_is(value):
    try:
        cleaned = clean_text(value, "content", maximum=1000)
    except Invalid:
        return
    assert "\x00" not in cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    cleaned.encode("utf-8")
    assert not is_blank(cleaned)
    assert clean_text(cleaned, "content", maximum=1000) == cleaned


@given(st.text(), st.integers(1, 50))
def test_an_excerpt_keeps_within_its_limit(value, maximum):
    short = excerpt(value, maximum)
    assert len(short) <= maximum
    assert short == value or short.endswith("…")


@pytest.mark.parametrize(
    ("start", "end", "maximum", "shown"),
    [(0, 3, 5, "0123…"), (4, 6, 6, "…3456…"), (8, 10, 5, "…6789"), (2, 9, 5, "…234…"), (5, 6, 20, "0123456789"),
     (9, 10, 1, "…"), (5, 5, 3, "…5…")],
)  # fmt: skip
def test_an_excerpt_shows_the_part_that_matters(start, end, maximum, shown):
    assert excerpt_around("0123456789", start, end, maximum) == shown


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "12:00", "0001-01-01T00:00:00+23:59x"])
def test_what_is_no_point_in_time_is_told(text):
    with pytest.raises(Invalid, match="since must be a time"):
        clean_moment(text, "since")


def test_a_point_in_time_has_a_zone():
    assert clean_moment("2026-03-01T12:00", "since").isoformat() == "2026-03-01T12:00:00+00:00"
    assert clean_moment("2026-03-01T12:00+02:00", "since").utcoffset() == timedelta(hours=2)
    assert clean_moment(" ", "since") is None
