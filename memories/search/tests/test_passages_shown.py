"""An answer that cannot show all of a long text shows the passage that was asked for."""

import json

import pytest
from django.test import Client

from core.wire import ANSWER_BUDGET
from memories.embedding.passages import passage_spans
from memories.models import Memory
from memories.search.passage import best_passage
from memories.search.service import search
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from memories.wire import WireMatch, WireSearchResult

pytestmark = pytest.mark.django_db

FILLER = "Nothing of interest is said in this sentence about the weather. "
ANSWER = "The vault of number {} opens with a brass key."


def long_text(number: int, answer: str = ANSWER, filler: str = FILLER) -> str:
    """Twelve thousand characters with the answer at another place each time."""
    before = len(filler) * (number * 17 % 150)
    text = filler * (12_000 // len(filler))
    return f"{number} {text[:before]}{answer.format(number)} {text[before:]}"


def matches(access, **criteria) -> list[WireMatch]:
    found = WireSearchResult.of(search(access, include_profile=False, **criteria)).matches
    assert len(found) == 10
    assert sum(len(match.text) for match in found) <= ANSWER_BUDGET
    assert all(match.text_truncated for match in found)
    return found


def test_a_keyword_is_in_what_is_shown(without_embeddings):
    access = make_access()
    for number in range(10):
        remember(access, long_text(number))
    for match in matches(access, keyword="Brass Key"):
        assert "brass key" in match.text
        assert len(match.text) > 5_000


def test_words_of_a_question_are_in_what_is_shown(without_embeddings):
    access = make_access()
    for number in range(10):
        remember(access, long_text(number))
    for match in matches(access, query="Which brass keys open the vaults?"):
        assert "brass key" in match.text


def test_a_question_in_a_script_without_blanks_is_met_too(without_embeddings):
    access = make_access()
    for number in range(10):
        remember(access, long_text(number, "{}号仓库的钥匙在厨房。", "今天天气很好我们去公园散步。"))
    for match in matches(access, query="仓库的钥匙在哪里"):
        assert "钥匙在厨房" in match.text


def test_what_is_close_in_meaning_is_shown_where_no_word_decides(embedder):
    text = long_text(7)
    spans = list(passage_spans(text, embedder.spec))
    cosines = {number: float(number == 40) for number in range(len(spans))}
    assert best_passage(text, embedder.spec, cosines, {}) == spans[40]


def test_the_passage_is_that_of_the_chunk_that_was_embedded(embedder, django_assert_max_num_queries):
    access = make_access()
    for number in range(10):
        remember(access, long_text(number))
    with django_assert_max_num_queries(12):
        found = matches(access, query="vault brass key opens")
    assert all("brass key" in match.text for match in found)


def test_short_answers_cost_no_further_query(embedder):
    access = make_access()
    remember(access, "The vault opens with a brass key.")
    (match,) = search(access, query="brass key").matches
    assert match.passage is None


def test_lists_over_rest_are_bounded_and_one_by_itself_is_whole(without_embeddings):
    space = make_space()
    client = Client(headers={"X-Api-Key": make_key(make_person(), space).secret})
    for number in range(10):
        body = {"content": long_text(number)}
        assert client.post("/api/v1/memories", json.dumps(body), content_type="application/json").status_code == 201
        document = {"title": str(number), "docType": "text", "content": "x", "summary": "y" * 10_000}
        client.post("/api/v1/documents", json.dumps(document), content_type="application/json")
    items = client.get("/api/v1/memories").json()["items"]
    assert sum(len(item["text"]) for item in items) <= ANSWER_BUDGET
    assert all(item["textTruncated"] for item in items)
    whole = client.get(f"/api/v1/memories/{items[0]['id']}").json()
    assert whole["text"] == Memory.objects.get(id=items[0]["id"]).text
    assert "textTruncated" not in whole
    documents = [item for item in client.get("/api/v1/documents").json()["items"] if "summary" in item]
    assert documents
    assert sum(len(item["summary"]) for item in documents) <= ANSWER_BUDGET
    assert all(item["summaryTruncated"] for item in documents)
    assert len(client.get(f"/api/v1/documents/{documents[0]['id']}").json()["summary"]) == 10_000
