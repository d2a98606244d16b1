"""Whatever is asked, the answer is a result or one of the project's errors."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.errors import AppError
from memories.search.service import search, similar_statements
from memories.tests.factories import make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]

# Words of the stored texts and signs of LIKE, SQL, tsquery and formats beside anything Unicode has.
ANY_TEXT = st.one_of(
    st.text(st.characters(), max_size=200),
    st.lists(
        st.sampled_from(
            ["session", "sesion", "会议", "ไป", "%", "_", "\\", "'", '"', "&", "|", "!", ":*", "<->", "{}", "%s",
             "%(a)s", "\x00", "\u200b", "\u0301", "\U0010ffff", "a" * 3000, "-- ", ";", "ß", "İ", "ﬃ"]
        ),
        max_size=12,
    ).map(" ".join),
)  # fmt: skip
LENIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def access():
    access = make_access()
    for text in ("the session expires", "会议改到星期三", "ประชุมเลื่อนไป", "100% of snake_case"):
        remember(access, text, category="c")
    return access


@LENIENT
@given(query=ANY_TEXT, keyword=ANY_TEXT, category=st.one_of(st.none(), ANY_TEXT), limit=st.integers())
@example(query="\ud800", keyword="", category=None, limit=1)
def test_a_search_answers_or_raises_one_of_our_errors(access, query, keyword, category, limit):
    for criteria in ({"query": query}, {"keyword": keyword}, {"query": query, "keyword": keyword}):
        try:
            result = search(access, category=category, limit=limit, **criteria)
        except AppError:
            continue
        assert len(result.matches) <= 50
        assert all(0 <= match.score <= 1 for match in result.matches)
        ids = [match.memory.id for match in result.matches]
        assert len(ids) == len(set(ids))


@LENIENT
@given(text=ANY_TEXT)
def test_what_was_saved_is_found_by_its_own_text(access, text):
    try:
        memory = remember(access, text)
        keyword = search(access, keyword=text, limit=50)
        query = search(access, query=text, limit=50)
    except AppError:
        return
    assert memory.id in [match.memory.id for match in keyword.matches]
    assert memory.id in [match.memory.id for match in query.matches]


@LENIENT
@given(text=ANY_TEXT.filter(lambda text: text.strip()))
def test_similar_statements_never_fail(access, text):
    try:
        similar_statements(access.space(None), text, limit=3)
    except AppError:
        return
