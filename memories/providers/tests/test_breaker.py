"""A provider that failed is left alone, by this process and by the others."""

import pytest

from core.errors import ProviderUnavailable
from memories.providers.breaker import REST_TEMPORARY, Breaker, forget_rests

IDENTITY = ("EXTRACTION", "openai", "http://localhost/v1", "sk-secret-key", "model")


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture(autouse=True)
def no_rests():
    forget_rests()
    yield
    forget_rests()


@pytest.fixture
def processes():
    """Two processes with the same configuration, and their clock."""
    clock = Clock()
    return Breaker(IDENTITY, clock=clock), Breaker(IDENTITY, clock=clock), clock


def down(permanent=False):
    return ProviderUnavailable("The provider is down.", permanent=permanent)


def test_a_failure_in_one_process_keeps_the_others_from_calling(processes):
    here, there, _ = processes
    here.open(down(permanent=True))
    with pytest.raises(ProviderUnavailable, match="down") as caught:
        there.check()
    assert caught.value.permanent


def test_other_configurations_are_not_concerned(processes):
    here, _, clock = processes
    here.open(down())
    Breaker((*IDENTITY[:-1], "another model"), clock=clock).check()


def test_after_the_rest_one_call_finds_out_and_tells_the_others_that_it_is_well(processes):
    here, there, clock = processes
    here.open(down())
    clock.now += REST_TEMPORARY + 1
    here.check()
    here.close()
    there.check()


def test_a_call_that_fails_again_begins_a_new_rest(processes):
    here, _, clock = processes
    here.open(down())
    clock.now += REST_TEMPORARY + 1
    here.check()
    here.open(down())
    with pytest.raises(ProviderUnavailable):
        here.check()


def test_without_redis_a_process_still_remembers_its_own_failure(processes, settings, monkeypatch):
    monkeypatch.setattr("core.redis_client._asked_again_at", 0.0)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    here, there, _ = processes
    here.open(down())
    with pytest.raises(ProviderUnavailable):
        here.check()
    there.check()
