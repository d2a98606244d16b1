"""Reading what a model answers: the good part is kept, and nothing else gets in."""

import contextlib
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.answers import MOST_FACTS, read_facts
from memories.models import MAXIMUM_CATEGORY, MAXIMUM_NOTE, RelationType
from tests.providers.server import fact

KNOWN = uuid.uuid4()


def read(*facts, **further):
    return read_facts(json.dumps({"facts": list(facts), **further}), {KNOWN})


def test_facts_come_in_order_with_category_and_relations():
    first, second = read(
        fact("Clara lives in Porto.", (str(KNOWN), "Updates", " She moved. "), category="people"), fact("Tea is hot.")
    )
    assert (first.text, first.category) == ("Clara lives in Porto.", "people")
    ((target, relation_type, note),) = [(r.target, r.type, r.note) for r in first.relations]
    assert (target, relation_type, note) == (KNOWN, RelationType.UPDATES, "She moved.")
    assert (second.text, second.category, second.relations) == ("Tea is hot.", None, ())


def test_blank_and_repeated_facts_are_dropped():
    facts = read(fact(" "), fact("\u200b"), fact("Tea is hot."), fact("tea  is hot."), {"text": 5}, "fact", None)
    assert [found.text for found in facts] == ["Tea is hot."]


def test_relations_that_lead_nowhere_are_dropped():
    (found,) = read(
        fact(
            "Tea is hot.",
            (str(uuid.uuid4()), "Updates", None),
            ("memory 1", "Updates", None),
            (str(KNOWN), "Contradicts", None),
            (str(KNOWN), "eXtEnDs", None),
            (str(KNOWN), "Extends", "again"),
        )
    )
    assert [(relation.target, relation.type) for relation in found.relations] == [(KNOWN, RelationType.EXTENDS)]


def test_labels_and_notes_that_are_too_long_are_cut():
    (found,) = read(fact("Tea is hot.", (str(KNOWN), "Updates", "n" * 501), category="c" * 300))
    assert len(found.category) == MAXIMUM_CATEGORY
    assert found.relations[0].note == "n" * (MAXIMUM_NOTE - 1) + "…"
    (found,) = read(fact("Tea is hot.", (str(KNOWN), "Updates", "n" * 500), category="  "))
    assert (found.category, found.relations[0].note) == (None, "n" * 500)


def test_names_in_another_case_and_words_around_the_object_are_understood():
    text = 'Here it is:\n```json\n{"Facts": [{"Text": "Tea is hot.", "CATEGORY": null}]}\n```'
    assert [found.text for found in read_facts(text, set())] == ["Tea is hot."]


def test_what_postgresql_cannot_store_is_dropped():
    (found,) = read(fact("Tea\x00 is hot."), fact("\ud800 half"))
    assert found.text == "Tea is hot."


def test_a_model_that_repeats_itself_is_stopped():
    assert len(read(*(fact(f"Fact number {number}.") for number in range(500)))) == MOST_FACTS


def test_no_facts_are_an_answer_and_no_list_is_none():
    assert read() == []
    for answer in ("", "none", "[]", '{"facts": null}', '{"facts": {}}', '{"fact": []}', "{" * 2000 + "}"):
        with pytest.raises(ValueError, match=r".+"):
            read_facts(answer, set())


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | st.sampled_from([str(KNOWN), "Updates"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["facts", "text", "category", "relations", "existingMemoryId", "relationType", "note"]),
            inner,
            max_size=7,
        )
    ),
    max_leaves=20,
)


@given(st.lists(_JSON, max_size=5), st.text(max_size=20))
def test_any_answer_gives_facts_that_can_be_stored_or_is_refused(items, around):
    for found in read_facts(json.dumps({"facts": items}), {KNOWN}):
        assert found.text.strip()
        found.text.encode()
        assert found.category is None or 0 < len(found.category) <= MAXIMUM_CATEGORY
        assert all(relation.target == KNOWN for relation in found.relations)
    with contextlib.suppress(ValueError):
        read_facts(around, {KNOWN})
