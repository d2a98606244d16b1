"""What a commit costs does not grow with the space: the objects it adds, and the statements it takes."""

import pytest
from django.db.models import Sum
from django.db.models.functions import Length

from history import store
from history.models import Object
from history.store import _TreeCache
from history.tests.builders import save, saved
from memories.tests.factories import make_space
from tests.query_counts import captured_queries

FILES = 5000


def path_of(number):
    digits = f"{number:03x}"
    return f"memories/{digits[-1]}/{digits[-2]}/{digits[-3]}/{number}.md"


@pytest.fixture
def space_id(db):
    space = make_space().id
    save(space, {path_of(number): f"Text {number}\n" for number in range(FILES)})
    return space


def test_a_commit_of_one_file_adds_its_content_its_folders_and_itself(space_id):
    made = saved(space_id, {path_of(77): "Changed\n"})
    new = Object.objects.filter(space_id=space_id, sequence=made.sequence)
    assert sorted(new.values_list("kind", flat=True)) == [1, 2, 2, 2, 2, 2, 3]
    assert new.aggregate(size=Sum(Length("data")))["size"] < 4000


def test_a_commit_asks_once_for_each_level_of_folders_and_not_for_those_in_use(space_id, monkeypatch):
    monkeypatch.setattr(store, "_cache", _TreeCache(2**20))
    with captured_queries() as cold:
        saved(space_id, {path_of(77): "Changed\n", path_of(1234): "Changed\n"})
    assert len(cold) == 1 + 5 + 1
    with captured_queries() as warm:
        saved(space_id, {path_of(77): "Changed again\n", path_of(1234): "Changed again\n"})
    assert len(warm) == 2


def test_a_cache_that_is_too_small_changes_nothing_but_speed(space_id, monkeypatch):
    monkeypatch.setattr(store, "_cache", _TreeCache(100))
    first = saved(space_id, {path_of(77): "Changed\n"})
    second = saved(space_id, {path_of(77): "Text 77\n"})
    assert first.oid != second.oid
    assert store._cache._size <= 100
