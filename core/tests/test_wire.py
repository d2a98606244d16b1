from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from core.wire import Moment, WireModel, fit_texts


class Item(WireModel):
    text: str
    text_truncated: bool | None = None
    made_at: Moment | None = None


def test_names_are_camel_case_nulls_are_dropped_and_times_have_an_offset():
    noon = datetime(2026, 3, 1, 13, 0, tzinfo=timezone(timedelta(hours=1)))
    assert Item(text="a", made_at=noon).dump() == {"text": "a", "madeAt": "2026-03-01T12:00:00+00:00"}


def test_short_answers_are_left_whole():
    items = [Item(text="a" * 10), Item(text="b" * 10)]
    fit_texts(items, budget=20)
    assert [item.text_truncated for item in items] == [None, None]


def test_only_the_long_texts_of_an_answer_are_cut():
    items = [Item(text="short"), Item(text="b" * 1000), Item(text="c" * 1000)]
    fit_texts(items, budget=105)
    assert items[0].text == "short"
    assert items[0].text_truncated is None
    assert [len(item.text) for item in items[1:]] == [50, 50]
    assert items[1].text.endswith("…")
    assert items[1].text_truncated is True


@given(st.lists(st.integers(0, 5000), max_size=60), st.integers(100, 20_000))
def test_an_answer_keeps_within_its_budget(lengths, budget):
    items = [Item(text="x" * length) for length in lengths]
    fit_texts(items, budget=budget)
    assert sum(len(item.text) for item in items) <= max(budget, len(items))
