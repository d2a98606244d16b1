import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from core.paging import clamp_limit, clamp_page, decode_cursor, encode_cursor


def test_page_and_limit_are_clamped():
    assert [clamp_limit(limit) for limit in (-5, 0, 1, 50, 51, 10**9)] == [10, 10, 1, 50, 50, 50]
    assert [clamp_page(page) for page in (-1, 0, 1, 7)] == [1, 1, 1, 7]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2))
def test_a_cursor_brings_back_its_position(position):
    assert decode_cursor(encode_cursor(*position), 2) == position


@given(st.text())
def test_any_other_text_is_no_cursor(text):
    with pytest.raises(Invalid, match="cursor"):
        decode_cursor(text, 7)
