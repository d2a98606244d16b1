import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from accounts.keys import PREFIX_LENGTH, generate_key, hash_key, presented_key


def test_a_key_is_128_random_bits_that_can_be_recognised():
    keys = {generate_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(re.fullmatch(r"mmcp_[0-9a-f]{32}", key) for key in keys)
    # What is kept in clear tells apart, and leaves 100 bits unknown.
    assert PREFIX_LENGTH == 12


@given(st.text())
def test_any_text_has_a_hash(text):
    assert re.fullmatch("[0-9a-f]{64}", hash_key(text))


def test_the_hash_is_plain_sha_256():
    assert hash_key("mmcp_x") == hashlib.sha256(b"mmcp_x").hexdigest()


def test_a_bearer_token_is_taken_in_any_case_of_the_scheme():
    for header in ("Bearer mmcp_x", "bearer mmcp_x", "BEARER   mmcp_x "):
        assert presented_key(None, header) == "mmcp_x"


def test_the_own_header_wins_and_a_wrong_one_is_not_rescued():
    assert presented_key("wrong", "Bearer right") == "wrong"


def test_a_blank_own_header_does_not_count():
    assert presented_key("  ", "Bearer right") == "right"


def test_other_schemes_and_nothing_are_no_key():
    for header in (None, "", "Basic abc", "Bearer", "Bearer  ", "mmcp_x"):
        assert presented_key(None, header) is None
