"""Words of many scripts, in spaces of the default language and without any embedding."""

import pytest

from memories.search.service import search
from memories.search.tests.test_query import texts
from memories.services.terms import split_words
from memories.tests.factories import make_access, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("without_embeddings")]

CASES = [
    ("chinese, two characters", "会议改到星期三下午三点", "会议"),
    ("chinese, one character", "会议改到星期三下午三点", "三"),
    ("chinese, across a word", "会议改到星期三下午三点", "星期三"),
    ("japanese kanji", "東京オフィスは六時に閉まります", "東京"),
    ("japanese katakana", "東京オフィスは六時に閉まります", "オフィス"),
    ("half-width katakana", "東京オフィスは六時に閉まります", "ｵﾌｨｽ"),
    ("full-width letters", "The ＡＰＩ key is rotated", "api"),
    ("korean", "회의는 수요일로 옮겨졌습니다", "회의는"),
    ("thai", "ประชุมเลื่อนไปวันพุธ", "วันพุธ"),
    ("thai, two characters", "ประชุมเลื่อนไปวันพุธ", "ไป"),
    ("arabic", "تم نقل الاجتماع إلى يوم الأربعاء", "الاجتماع"),
    ("arabic without article", "تم نقل الاجتماع إلى يوم الأربعاء", "اجتماع"),
    ("hindi", "बैठक बुधवार को होगी", "बैठक"),
    ("hindi, other form", "नई किताबें मेज पर हैं", "किताब"),
    ("russian, other form", "Встреча перенесена на среду", "встречу"),
    ("greek, no accent on capitals", "Η συνάντηση μεταφέρθηκε", "συνάντηση"),
    ("hebrew", "הפגישה הועברה ליום רביעי", "הפגישה"),
    ("german umlaut", "Die Größe der Häuser", "größe"),
    ("german sharp s", "Die Straße ist gesperrt", "STRASSE"),
    ("english, other form", "The meetings were moved", "meeting"),
]


@pytest.mark.parametrize(("script", "text", "word"), CASES, ids=[case[0] for case in CASES])
def test_a_word_is_found_by_keyword_and_by_query(script, text, word):
    access = make_access()
    remember(access, text)
    remember(access, "mmmm qqqq")
    assert texts(search(access, keyword=word)) == [text]
    assert texts(search(access, query=word)) == [text]


@pytest.mark.parametrize(
    ("text", "misspelt"),
    [
        ("Встреча перенесена на среду", "встерча"),
        ("الاجتماع يوم الأربعاء", "الاجتماغ"),
        ("회의록을 보냈습니다", "회의륵을"),
        ("Η συνάντηση μεταφέρθηκε", "συνάντιση"),
        ("बैठक बुधवार को होगी", "बुदवार"),
    ],
)
def test_a_misspelt_word_is_found_in_any_script(text, misspelt):
    access = make_access()
    remember(access, text)
    assert texts(search(access, keyword=misspelt)) == [text]


def test_a_compound_leads_to_its_parts_and_a_part_to_its_compound():
    access = make_access(language="german")
    remember(access, "Die Datenbankverbindung bricht ab.")
    remember(access, "Unsere Datenbank ist groß.")
    assert texts(search(access, query="Datenbankgröße")) == ["Unsere Datenbank ist groß."]
    other = make_access(language="german")
    remember(other, "Die Datenbankverbindung bricht ab.")
    assert texts(search(other, query="Datenbank")) == ["Die Datenbankverbindung bricht ab."]


def test_a_text_is_cut_at_everything_that_is_no_word():
    split = split_words("<b>node.js</b> and/or user@example.org 東京x", "english")
    assert split.words == {"english": "b node js b and or user example org x"}
    assert split.runs == ["東京"]


def test_each_script_has_its_stemmer_unless_the_space_wants_none():
    text = "books книги كتب"
    assert split_words(text, "english").words == {"english": "books", "russian": "книги", "arabic": "كتب"}
    assert split_words(text, "simple").words == {"simple": "books книги كتب"}
