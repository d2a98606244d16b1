"""What a commit promises: one step for all files, git's own ids, nothing for nothing, and nothing after a rollback."""

import zlib

import pytest
from django.db import transaction

from core.errors import Invalid
from history.models import Change, Commit, Object, Ref
from history.objects import blob_id
from history.queries import file_at, head, list_files, log
from history.services.commits import MAXIMUM_FILE_BYTES, Author, commit
from history.tests.builders import ADA, NOON, save, saved
from memories.tests.factories import make_space
from spaces.isolation import bound


@pytest.fixture
def space_id(db):
    return make_space().id


def counts(space_id):
    return [model.objects.filter(space_id=space_id).count() for model in (Object, Commit, Change)]


def test_files_come_change_and_go(space_id):
    first = saved(space_id, {"a.md": "one\n", "topic/deep/b.md": "two\n"})
    second = saved(space_id, {"a.md": "one and a half\n", "topic/deep/b.md": None})
    assert list_files(space_id) == {"a.md": blob_id(b"one and a half\n")}
    assert list_files(space_id, first.oid) == {"a.md": blob_id(b"one\n"), "topic/deep/b.md": blob_id(b"two\n")}
    assert file_at(space_id, first.oid, "topic/deep/b.md") == b"two\n"
    assert second.blobs == {"a.md": blob_id(b"one and a half\n"), "topic/deep/b.md": None}
    assert head(space_id) == second.oid
    assert [second.sequence, first.sequence] == [entry.sequence for entry in log(space_id)] == [2, 1]


def test_an_empty_space_has_no_head(space_id):
    assert (head(space_id), list_files(space_id), log(space_id)) == (None, {}, [])


@pytest.mark.parametrize("files", [{"a.md": "one\n"}, {"gone.md": None}, {"a.md/b.md": None}, {"folder": None}, {}])
def test_nothing_that_differs_is_no_commit(space_id, files):
    saved(space_id, {"a.md": "one\n", "folder/b.md": "two\n"})
    before = counts(space_id)
    assert save(space_id, files) is None
    assert counts(space_id) == before


def test_deleting_everything_leaves_an_empty_tree(space_id):
    saved(space_id, {"a.md": "one\n"})
    saved(space_id, {"a.md": None})
    assert list_files(space_id) == {}
    saved(space_id, {"b.md": "again\n"})
    assert list(list_files(space_id)) == ["b.md"]


def test_a_file_may_become_a_folder_and_back_in_one_commit(space_id):
    saved(space_id, {"a": "file\n"})
    saved(space_id, {"a": None, "a/b.md": "inside\n"})
    assert list(list_files(space_id)) == ["a/b.md"]
    saved(space_id, {"a/b.md": None, "a": "file\n"})
    assert list(list_files(space_id)) == ["a"]


@pytest.mark.parametrize("files", [{"a/b.md": "x"}, {"folder": "x"}, {"new": "x", "new/b": "y"}])
def test_nothing_is_a_file_and_a_folder_at_once(space_id, files):
    saved(space_id, {"a": "file\n", "folder/b.md": "inside\n"})
    before = counts(space_id)
    with pytest.raises(Invalid, match="file and a folder"):
        save(space_id, files)
    assert counts(space_id) == before


def test_a_rollback_leaves_nothing_and_the_same_commit_works_afterwards(space_id):
    saved(space_id, {"a.md": "one\n"})
    before, ref = counts(space_id), Ref.objects.filter(space_id=space_id).values().get()

    def fail_after_the_commit():
        with bound(space_id):
            commit(space_id, {"b.md": b"two\n"}, author=ADA, message="Lost", trailers={}, moment=NOON)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_the_commit()
    assert counts(space_id) == before
    assert Ref.objects.filter(space_id=space_id).values().get() == ref
    made = saved(space_id, {"b.md": "two\n"}, message="Lost")
    assert file_at(space_id, made.oid, "b.md") == b"two\n"


def test_several_commits_in_one_transaction_follow_each_other(space_id):
    with bound(space_id):
        first = commit(space_id, {"a": b"1"}, author=ADA, message="One", trailers={}, moment=NOON)
        second = commit(space_id, {"a": b"2"}, author=ADA, message="Two", trailers={}, moment=NOON)
    assert [entry.oid for entry in log(space_id)] == [second.oid, first.oid]


@pytest.mark.django_db(transaction=True)
def test_a_commit_without_a_transaction_is_a_mistake_of_ours():
    space = make_space()
    with pytest.raises(transaction.TransactionManagementError):
        commit(space.id, {"a": b"1"}, author=ADA, message="One", trailers={}, moment=NOON)


@pytest.mark.parametrize(
    "path",
    [
        *("", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", ".git/config", "a/.GIT/x", ".gitmodules", "GIT~1/x"),
        *("a\\b", "a\x00b", "a\nb", "a\u200bb", "a\u202eb", "a.md ", "a.", "\ud800", "C:a"),
        *("x" * 256, "é" * 128, "a/" * 64 + "b", "/".join(["x" * 250] * 9)),
    ],
)
def test_paths_with_tricks_are_refused(space_id, path):
    with pytest.raises(Invalid, match="cannot be kept"):
        save(space_id, {path: "x"})


@pytest.mark.parametrize("path", ["ä.md", "日本語/メモ.md", "a b/c.md", "-rf.md", "a" * 252 + ".md", "git.md", "a.git"])
def test_other_paths_are_kept(space_id, path):
    saved(space_id, {path: "x"})
    assert list(list_files(space_id)) == [path]


def test_a_file_that_is_too_large_is_refused(space_id):
    with pytest.raises(Invalid, match="at most 5 MB"):
        save(space_id, {"a.md": "x" * (MAXIMUM_FILE_BYTES + 1)})


def test_a_blank_message_is_refused(space_id):
    with pytest.raises(Invalid, match="message must not be empty"):
        save(space_id, {"a.md": "x"}, message=" \n")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("Ada\nCommitter: Eve <e@x>", "ada@example.org\n"), ("Ada Committer: Eve e@x", "ada@example.org")),
        (("", "ada@example.org"), ("ada@example.org", "ada@example.org")),
        ((" .,;: ", "a b>c"), ("abc", "abc")),
        (("\x00\x07Zoë\u2028", ""), ("Zoë", "unknown")),
    ],
)
def test_authors_are_cleaned_of_what_git_cannot_hold(given, kept):
    author = Author(*given)
    assert (author.name, author.email) == kept


def test_trailers_stand_in_the_last_paragraph_and_cannot_be_forged_by_the_message(space_id):
    made = saved(space_id, {"a": "1"}, message="Hours\n\nKey: admin", trailers={"Key": "lap\ntop", "Surface": "mcp"})
    body = Object.objects.get(space_id=space_id, oid=bytes.fromhex(made.oid)).data
    assert zlib.decompress(body).decode().endswith("\n\nHours\n\nKey: admin\n\nKey: lap top\nSurface: mcp\n")
    assert log(space_id)[0].key_label == "lap top"


def test_two_spaces_have_nothing_in_common(space_id):
    other = make_space().id
    saved(space_id, {"a.md": "same\n"})
    assert (head(other), list_files(other)) == (None, {})
    saved(other, {"a.md": "same\n"})
    saved(other, {"a.md": None})
    assert list(list_files(space_id)) == ["a.md"]
