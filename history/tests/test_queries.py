"""What can be asked of a history: the log, one commit, what differs, who wrote which line, files of the past."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.errors import Invalid, NotFound
from history.queries import blame, diff, file_at, find_commit, head, list_files, log, show
from history.services.commits import Author
from history.tests.builders import NOON, save, saved
from memories.tests.factories import make_space

BOB = Author("Bob", "bob@example.org")


@pytest.fixture
def space_id(db):
    return make_space().id


def messages(entries):
    return [entry.message for entry in entries]


def test_the_log_is_newest_first_and_goes_on_before_a_commit(space_id):
    made = [saved(space_id, {"a": str(n)}, message=f"No {n}", moment=NOON + timedelta(minutes=n)) for n in range(5)]
    entries = log(space_id, limit=2)
    assert messages(entries) == ["No 4", "No 3"]
    assert messages(log(space_id, before=entries[-1].oid)) == ["No 2", "No 1", "No 0"]
    assert (entries[0].oid, entries[0].moment) == (made[4].oid, NOON + timedelta(minutes=4))
    assert log(space_id, before=made[0].oid) == []


def test_the_log_of_a_path_is_that_of_a_file_or_a_folder(space_id):
    saved(space_id, {"topic/a.md": "1", "topical.md": "1"}, message="Both")
    saved(space_id, {"topic/deep/b.md": "1"}, message="Deep")
    saved(space_id, {"topical.md": "2"}, message="Beside")
    saved(space_id, {"topic/a.md": None}, message="Gone")
    assert messages(log(space_id, path="topic")) == messages(log(space_id, path="topic/")) == ["Gone", "Deep", "Both"]
    assert messages(log(space_id, path="topic/a.md")) == ["Gone", "Both"]
    assert messages(log(space_id, path="topic/deep", limit=1)) == ["Deep"]
    assert log(space_id, path="nowhere") == []


def test_a_commit_is_found_by_its_beginning_when_that_means_one(space_id):
    made = saved(space_id, {"a": "1"})
    assert find_commit(space_id, made.oid[:7].upper()).oid == find_commit(space_id).oid == made.oid
    with pytest.raises(NotFound, match="no commit"):
        find_commit(space_id, "0" * 40)
    for wrong in ("abc", "main", "HEAD~1", made.oid + "0", "'; DROP TABLE"):
        with pytest.raises(Invalid, match="seven or more"):
            find_commit(space_id, wrong)


def test_a_commit_of_another_space_is_none(space_id):
    made = saved(make_space().id, {"secret": "1"})
    with pytest.raises(NotFound):
        show(space_id, made.oid)
    with pytest.raises(NotFound):
        list_files(space_id, made.oid)
    with pytest.raises(NotFound):
        file_at(space_id, made.oid, "secret")
    with pytest.raises(NotFound):
        blame(space_id, "secret", made.oid)


def test_a_commit_is_shown_with_what_it_changed(space_id):
    saved(space_id, {"a": "1", "b": "1", "c": "1"})
    made = saved(space_id, {"a": "2", "b": None, "d": "1"}, message="Mixed", author=BOB)
    shown = show(space_id, made.oid)
    assert (shown.entry.message, shown.entry.author_email, shown.change_count) == ("Mixed", "bob@example.org", 3)
    kinds = [(change.path, change.before is not None, change.after is not None) for change in shown.changes]
    assert kinds == [("a", True, True), ("b", True, False), ("d", False, True)]


def test_what_differs_between_two_commits_or_in_one(space_id):
    first = saved(space_id, {"a": "1\n", "topic/b": "1\n"})
    saved(space_id, {"a": "2\n"})
    last = saved(space_id, {"topic/b": None, "c": "x\n"})
    assert [file.path for file in diff(space_id, first.oid, last.oid).files] == ["a", "c", "topic/b"]
    assert [file.path for file in diff(space_id, None).files] == ["c", "topic/b"]
    assert [file.path for file in diff(space_id, None, first.oid).files] == ["a", "topic/b"]
    (only,) = diff(space_id, first.oid, path="topic").files
    assert (only.text, only.added, only.removed) == ("--- a/topic/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", 0, 1)
    assert diff(space_id, last.oid, last.oid).change_count == 0


def test_each_line_is_blamed_on_the_commit_that_brought_it(space_id):
    one = saved(space_id, {"a": "first\nsecond\nthird\n"}, message="One")
    two = saved(space_id, {"a": "first\n2nd\nthird\n"}, author=BOB, message="Two")
    saved(space_id, {"other": "x"})
    three = saved(space_id, {"a": "zeroth\nfirst\n2nd\nthird\n"}, message="Three")
    assert [(line.text, line.entry.oid) for line in blame(space_id, "a")] == [
        ("zeroth", three.oid), ("first", one.oid), ("2nd", two.oid), ("third", one.oid),
    ]  # fmt: skip
    assert [line.entry.message for line in blame(space_id, "a", two.oid)] == ["One", "Two", "One"]
    assert blame(space_id, "a")[2].entry.author_name == "Bob"


def test_lines_of_a_file_that_was_deleted_and_came_back_are_new(space_id):
    saved(space_id, {"a": "same\n"}, message="One")
    saved(space_id, {"a": None})
    saved(space_id, {"a": "same\n"}, message="Again")
    assert [line.entry.message for line in blame(space_id, "a")] == ["Again"]


def test_blame_of_an_empty_and_of_a_missing_file(space_id):
    saved(space_id, {"empty": ""})
    assert blame(space_id, "empty") == []
    for path in ("missing", "empty/x", "", "\ud800"):
        with pytest.raises(NotFound, match="no file"):
            blame(space_id, path)


def test_a_space_without_history_says_so(space_id):
    for ask in (show, lambda space: file_at(space, None, "a"), lambda space: diff(space, None)):
        with pytest.raises(NotFound, match="no history yet"):
            ask(space_id)


def test_the_log_is_two_queries_whatever_its_length(space_id):
    for number in range(30):
        save(space_id, {f"topic/{number}": "x"})
    with CaptureQueriesContext(
        connection,
    ) as few:
        log(space_id, limit=2)
    with CaptureQueriesContext(connection) as many:
        log(space_id, limit=30, path="topic")
    assert len(many) == len(few)
    assert head(space_id) == log(space_id)[0].oid
