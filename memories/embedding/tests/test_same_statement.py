"""A request to forget by content is confirmed by its words, and by nothing less."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.calibrate_embeddings import STATEMENTS
from memories.embedding.confirm import is_same_statement

WORDS = st.lists(
    st.text(st.sampled_from("abcdefgzäß茶ดी1379"), min_size=1, max_size=9).filter(lambda word: word != "the"),
    min_size=2,
    max_size=8,
)


@pytest.mark.parametrize(
    ("content", "memory"),
    [
        ("ada likes tea", "Ada likes tea."),
        ("Please forget that Ada likes tea.", "Ada likes tea"),
        ("forget: Ada likes tea, please!", "Ada likes tea"),
        ("Forget please that Ada likes tea", "Ada likes tea"),
        ("Bitte vergiss, dass Ada Tee mag", "Ada Tee mag"),
        ("Oublie que Ada aime le thé, s'il te plaît", "Ada aime le thé"),
        ("请忘记我喜欢茶", "我喜欢茶。"),
        ("１０時に会議", "10時に会議"),
        ("Office closes at six", "The office closes at six."),
        ("The office close at six", "The office closes at six."),
        ("The accomodation is booked", "The accommodation is booked"),
        ("Ada doesn’t drink “tea”", "Ada doesn't drink 'tea'"),
        ("फ़ाइल कल भेजो", "फ़ाइल कल भेजो।"),
        ("ประชุมเวลาสิบโมง", "ประชุมเวลาสิบโมง"),
        ("الاجتماع غدا", "الاجتماع غدا؟"),
        ("10–12 people", "10-12 people"),
        ("cafe\u0301 at noon", "café at noon"),
    ],
)
def test_the_same_words_are_confirmed(content, memory):
    assert is_same_statement(content, memory)


@pytest.mark.parametrize(
    ("content", "memory"),
    [
        ("Ada manages Bob", "Bob manages Ada"),
        ("The sky is blue", "The sky is green"),
        ("Ada does not like tea", "Ada likes tea"),
        ("Don't forget that Ada likes tea", "Ada likes tea"),
        ("Ada can come", "Ada can't come"),
        ("Ada likes tea", "Ada dislikes tea"),
        ("Ada likes tea", "Ada likes tea and coffee"),
        ("Ada likes tea and coffee", "Ada likes tea"),
        ("Mario is the manager", "Maria is the manager"),
        ("the angle is wrong", "the angel is wrong"),
        ("it is -5 degrees", "it is 5 degrees"),
        ("the limit is 1.5", "the limit is 15"),
        ("at 10:15", "at 10:51"),
        ("on 3/4", "on 34"),
        ("grade A+", "grade A"),
        ("C# is used", "C is used"),
        ("the price is $5", "the price is €5"),
        ("a != b", "a = b"),
        ("hepatitis A vaccine", "hepatitis B vaccine"),
        ("hepatitis A vaccine", "hepatitis vaccine"),
        ("10² metres", "102 metres"),
        ("The Who play tonight", "Ada saw Who play tonight"),
        ("Maße", "Masse"),
        ("año nuevo", "ano nuevo"),
        ("彼は茶が好き", "彼は酒が好き"),
        ("我不喜欢茶", "我喜欢茶"),
        ("يحب الشاي", "لا يحب الشاي"),
        ("ใกล้บ้าน", "ไกลบ้าน"),
        ("👍", "👎"),
        ("the prescription is void", "the proscription is void"),
        ("closed the gates", "closes the gates"),
        ("paint the gates and door", "paint the gate and doors"),
        ("take the trail", "take the trial"),
        ("they like the desert", "they like the dessert"),
        ("call Roberts", "call Robert"),
        ("write to Zimmermann", "write to Zimmerman"),
        ("GATES opened", "GATE opened"),
        ("it is +5 degrees", "it is 5 degrees"),
        ("", ""),
        ("...", "!!!"),
        ("Please forget that", "Ada likes tea"),
    ],
)
def test_anything_else_is_not(content, memory):
    assert not is_same_statement(content, memory)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement[0])
def test_no_changed_statement_is_confirmed(statement):
    original, _, changed = statement
    assert not is_same_statement(changed, original)
    assert not is_same_statement(f"Please forget that {changed}", original)
    assert is_same_statement(f"Please forget that {original}", original)


@given(WORDS, st.sampled_from(["{}", "{}.", "{}?!", "“{}”", "Please forget that {}", "forget {}", "{}, please"]))
def test_words_with_other_punctuation_and_requests_are_confirmed(words, form):
    assert is_same_statement(form.format(", ".join(words)), " ".join(words))


@given(WORDS, st.data())
def test_words_in_another_order_are_not_confirmed(words, data):
    other = data.draw(st.permutations(words))
    assume(sum(left != right for left, right in zip(words, other, strict=True)) > 0)
    assert not is_same_statement(" ".join(other), " ".join(words))


@given(WORDS, st.integers(0, 7), st.sampled_from(["not", "never", "blue", "12", "没"]))
def test_a_word_more_or_less_is_not_confirmed(words, position, added):
    longer = [*words[:position], added, *words[position:]]
    assert not is_same_statement(" ".join(longer), " ".join(words))
    assert not is_same_statement(" ".join(words), " ".join(longer))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_other_numbers_are_not_confirmed(left, right):
    assume(left != right)
    assert not is_same_statement(f"The code is {left}.", f"The code is {right}.")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gets_an_answer_and_it_is_the_same_for_the_same_text(left, right):
    assert is_same_statement(left, right) in (True, False)
    assert is_same_statement(left, left) == is_same_statement(left + " ", left)
