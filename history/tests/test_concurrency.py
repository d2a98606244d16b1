"""Many writers at once: every commit is there, one after the other, in one space as in many."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from history.models import Commit, Object
from history.queries import file_at, list_files, log
from history.services.commits import lock
from history.tests.builders import save
from memories.tests.factories import make_space
from spaces.isolation import bound

THREADS, ROUNDS = 8, 12


def write(space_id, number):
    """Commits that all touch one shared file beside one of their own."""
    try:
        for step in range(ROUNDS):
            assert save(
                space_id, {f"own/{number}/{step}.md": "x", "shared.md": f"{number} {step}"}, message=f"{number}"
            )
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("space_count", [1, THREADS])
def test_no_commit_is_lost_and_history_stays_linear(space_count):
    spaces = [make_space().id for _ in range(space_count)]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda number: write(spaces[number % space_count], number), range(THREADS)))
    for space_id in spaces:
        expected = THREADS * ROUNDS // space_count
        entries = log(space_id, limit=1000)
        assert [entry.sequence for entry in entries] == list(range(expected, 0, -1))
        assert len(list_files(space_id)) == expected + 1
        # Each commit stands on the one before it: its tree has one file of its own more.
        assert all(
            len(list_files(space_id, entry.oid)) == entry.sequence + 1 for entry in entries[:: expected // 4 or 1]
        )
        assert len(file_at(space_id, None, "shared.md").split()) == 2
    assert Commit.objects.count() == Object.objects.filter(kind=1).count() == THREADS * ROUNDS


@pytest.mark.django_db(transaction=True)
def test_whoever_locks_first_goes_first():
    space_id = make_space().id

    def other():
        try:
            return save(space_id, {"b": "2"}, message="Second")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with bound(space_id):
            assert lock(space_id).oid is None
            waiting = pool.submit(other)
            first = save(space_id, {"a": "1"}, message="First")
            assert not waiting.done()
        assert waiting.result(30).sequence == first.sequence + 1
