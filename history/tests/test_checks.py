"""Damage of every kind is found, and what is whole is said to be whole."""

import zlib

import pytest
from django.db import connection

from history.checks import check_history
from history.models import Change, Commit, Kind, Object, Ref
from history.tests.builders import save, saved
from memories.tests.factories import make_space


@pytest.fixture
def space_id(db):
    space = make_space().id
    save(space, {"a.md": "1", "topic/b.md": "1"})
    save(space, {"a.md": "2"})
    save(space, {"topic/b.md": None, "c.md": "3"})
    return space


def execute(statement, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        assert cursor.rowcount == 1


def a_blob(space_id):
    return bytes(Object.objects.filter(space_id=space_id, kind=Kind.BLOB).first().oid)


def test_a_whole_history_is_whole(space_id):
    report = check_history(space_id)
    assert (report.problems, report.commits) == ([], 3)
    assert report.objects == Object.objects.filter(space_id=space_id).count()


def test_an_empty_space_is_whole(db):
    report = check_history(make_space().id)
    assert (report.problems, report.commits, report.objects) == ([], 0, 0)


def test_other_spaces_do_not_matter(space_id):
    other = make_space().id
    save(other, {"x.md": "x"})
    execute("DELETE FROM history_object WHERE space_id = %s AND oid = %s", other, a_blob(other))
    assert check_history(space_id).problems == []


def test_a_missing_object_is_found(space_id):
    oid = a_blob(space_id)
    execute("DELETE FROM history_object WHERE space_id = %s AND oid = %s", space_id, oid)
    assert check_history(space_id).problems == [f"Blob {oid.hex()} is missing"]


@pytest.mark.parametrize(
    ("data", "said"), [(zlib.compress(b"forged"), "is not what its id says"), (b"junk", "cannot be decompressed")]
)
def test_a_changed_object_is_found(space_id, data, said):
    oid = a_blob(space_id)
    execute("UPDATE history_object SET data = %s WHERE space_id = %s AND oid = %s", data, space_id, oid)
    assert check_history(space_id).problems == [f"object {oid.hex()} {said}"]


def test_an_object_that_belongs_to_nothing_is_found(space_id):
    Object.objects.create(
        space_id=space_id,
        oid=bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        kind=Kind.BLOB,
        sequence=1,
        size=0,
        data=zlib.compress(b""),
    )
    assert check_history(space_id).problems == ["object e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 belongs to no commit"]


def test_a_log_that_tells_something_else_is_found(space_id):
    Change.objects.filter(space_id=space_id, path="c.md").update(path="d.md")
    newest = saved(space_id, {"e.md": "x"})
    (problem,) = check_history(space_id).problems
    assert problem.startswith("the log tells of other changes than commit")
    Change.objects.filter(space_id=space_id, path="d.md").update(path="c.md")
    Commit.objects.filter(space_id=space_id, sequence=4).delete()
    assert f"the log does not have commit {newest.oid} as number 4" in check_history(space_id).problems


def test_a_ref_that_was_moved_back_is_found(space_id):
    second = Commit.objects.get(space_id=space_id, sequence=2)
    Ref.objects.filter(space_id=space_id).update(oid=second.oid)
    assert any("belongs to no commit" in problem for problem in check_history(space_id).problems)
