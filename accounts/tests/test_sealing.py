from hypothesis import given
from hypothesis import strategies as st

from accounts import sealing


@given(st.text(st.characters(codec="utf-8"), max_size=50))
def test_a_sealed_secret_is_unreadable_and_comes_back(secret):
    sealed = sealing.seal(secret)
    assert len(secret) < 8 or secret not in sealed
    assert sealing.unseal(sealed) == secret


def test_a_secret_that_was_not_fetched_in_time_is_gone(monkeypatch):
    sealed = sealing.seal("secret")
    monkeypatch.setattr(sealing, "SECONDS", -1)
    assert sealing.unseal(sealed) is None


def test_what_another_installation_sealed_stays_closed(settings):
    sealed = sealing.seal("secret")
    settings.SECRET_KEY = "another one that is long enough for the purpose"
    assert sealing.unseal(sealed) is None
    assert sealing.unseal("nonsense") is None
