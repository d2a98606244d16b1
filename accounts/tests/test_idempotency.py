"""A write that is repeated under its key gets the first answer."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import IdempotentCall
from accounts.services.idempotency import begin, forget_old_calls, give_up, keep
from core.errors import Conflict, Invalid

pytestmark = pytest.mark.django_db

CALLER = uuid.uuid4()


def ask(key="k", request="tea", caller=CALLER, operation="save"):
    return begin(caller=caller, operation=operation, key=key, request=request)


def move(call, **fields):
    IdempotentCall.objects.filter(id=call.id).update(**fields)


def test_the_first_answer_is_given_again():
    call = ask()
    assert call.answer is None
    keep(call, {"number": 1})
    assert ask() == type(call)(call.id, {"number": 1})


def test_another_key_caller_or_operation_is_another_call():
    keep(ask(), {"number": 1})
    for other in (ask(key="other"), ask(caller=uuid.uuid4()), ask(operation="forget")):
        assert other.answer is None


def test_a_key_is_not_used_for_something_else():
    keep(ask(), {})
    with pytest.raises(Invalid, match="another request"):
        ask(request="coffee")


def test_two_at_once_do_not_both_run():
    ask()
    with pytest.raises(Conflict, match="still running"):
        ask()


def test_a_call_whose_process_died_is_taken_up_once_as_the_same_call():
    call = ask()
    move(call, locked_until=timezone.now() - timedelta(seconds=1))
    assert ask() == call
    with pytest.raises(Conflict):
        ask()


def test_after_an_error_the_call_may_be_repeated():
    call = ask()
    give_up(call, nothing_was_done=False)
    assert ask().id == call.id
    give_up(call, nothing_was_done=True)
    assert ask(request="corrected").id != call.id


def test_an_answer_is_kept_for_a_day():
    call = ask()
    keep(call, {})
    move(call, created_at=timezone.now() - timedelta(hours=25))
    assert ask(request="coffee").answer is None
    move(ask(key="old"), created_at=timezone.now() - timedelta(hours=25))
    assert forget_old_calls() == 1


@pytest.mark.parametrize("key", ["", " ", "k" * 201, "\ud800", None])
def test_keys_that_cannot_be_used(key):
    with pytest.raises(Invalid, match="idempotency key"):
        ask(key=key)
