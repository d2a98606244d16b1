"""The longest questions that are allowed cost little more than ordinary ones, and ordinary ones are taken whole."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.embedding.local import MOST_QUERY_TOKENS, LocalEmbedder
from memories.search import keyword
from memories.search.service import MAXIMUM_KEYWORD, MAXIMUM_QUERY, search
from memories.tests.factories import make_access, remember

LONGEST = {
    "one ideograph": "漢" * MAXIMUM_QUERY,
    "many ideographs": "".join(chr(0x4E00 + number % 6_000) for number in range(MAXIMUM_QUERY)),
    "single letters": "a " * (MAXIMUM_QUERY // 2),
    "combining accents": "e" + "\u0301" * (MAXIMUM_QUERY - 1),
    "one word": "x" * MAXIMUM_QUERY,
    "long words": " ".join(f"{number}" + "xyz" * 400 for number in range(8)),
    "many words": " ".join(f"word{number}" for number in range(1_100)),
    "emoji": "😀" * MAXIMUM_QUERY,
    "characters that grow": "\ufdfa" * MAXIMUM_QUERY,
}


@pytest.fixture(scope="module")
def engine():
    embedder = LocalEmbedder()
    embedder.embed_query("Load it.")
    return embedder._engine


@pytest.fixture
def asked(engine, monkeypatch):
    """A local embedder and the texts that its engine was asked for."""
    texts: list[str] = []

    class Recorded:
        token_count = staticmethod(engine.token_count)

        def query(self, text):
            texts.append(text)
            return engine.query("anything")

    embedder = LocalEmbedder()
    monkeypatch.setattr(embedder, "_load", Recorded)
    return embedder, texts


@pytest.mark.parametrize("name", LONGEST)
def test_only_so_many_tokens_of_a_question_are_embedded(asked, engine, name):
    embedder, texts = asked
    embedder.embed_query(LONGEST[name])
    assert 0 < engine.token_count(texts[0]) <= MOST_QUERY_TOKENS
    assert MOST_QUERY_TOKENS - engine.token_count(texts[0]) < 10 or len(texts[0]) == 2_000


@pytest.mark.parametrize(
    "question",
    ["Who signs off the releases of the payment service on Fridays? " * 9,
     "Wer gibt die Veröffentlichungen des Zahlungsdienstes an Freitagen frei? " * 9,
     "周五谁批准支付服务的发布。" * 8],
)  # fmt: skip
def test_a_question_of_a_hundred_words_is_embedded_whole(asked, question):
    embedder, texts = asked
    embedder.embed_query(question)
    assert texts == [question]


@pytest.mark.django_db
@pytest.mark.parametrize("name", LONGEST)
def test_no_question_makes_statements_of_megabytes(name, settings):
    settings.EMBEDDINGS_PROVIDER = "none"
    access = make_access()
    memory = remember(access, "The office closes at six.")
    for criterion, text in (("query", f"office {LONGEST[name]}"), ("keyword", LONGEST[name])):
        with CaptureQueriesContext(connection) as queries:
            found = search(access, **{criterion: text[: MAXIMUM_QUERY if criterion == "query" else MAXIMUM_KEYWORD]})
        assert max(len(query["sql"]) for query in queries) < 250_000
        if criterion == "query" and name not in ("one ideograph", "many ideographs", "characters that grow"):
            assert [match.memory.id for match in found.matches] == [memory.id]


@pytest.mark.django_db
def test_the_rarest_words_of_a_long_keyword_are_needed(settings):
    settings.EMBEDDINGS_PROVIDER = "none"
    access = make_access()
    words = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(150)]
    memory = remember(access, " ".join(reversed(words)))
    remember(access, " ".join(words[:40]))
    assert [match.memory.id for match in search(access, keyword=" ".join(words)).matches] == [memory.id]


@pytest.mark.django_db
def test_words_beyond_the_rarest_of_a_keyword_are_not_compared(settings, monkeypatch):
    settings.EMBEDDINGS_PROVIDER = "none"
    monkeypatch.setattr(keyword, "MOST_WORDS", 2)
    access = make_access()
    memory = remember(access, "Mercury and Venus.")
    for planet in ("Earth", "Mars"):
        remember(access, f"{planet}, seen from Jupiter.")
    assert [match.memory.id for match in search(access, keyword="Jupiter Venus Mercury").matches] == [memory.id]
