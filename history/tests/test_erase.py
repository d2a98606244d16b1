"""What is erased is in no row and no clone any more; everything else is as it was, and the history is whole."""

import pytest

from core.errors import NotFound
from history.checks import check_history
from history.mirror import mirrors_folder, updated_mirror
from history.models import Object
from history.objects import blob_id
from history.queries import file_at, list_files, log, show
from history.services.commits import Author
from history.services.erase import MESSAGE, contents_with, erase
from history.tests import git
from history.tests.builders import NOON, save, saved
from memories.tests.factories import make_space
from spaces.isolation import bound

ADMIN = Author("Admin", "admin@example.org")


@pytest.fixture
def space_id(settings, tmp_path, db):
    settings.MEMORY_HOME = tmp_path / "home"
    space = make_space().id
    save(space, {"kept.md": "kept 1\n"}, message="First")
    save(space, {"topic/secret.md": "secret 1\n", "kept.md": "kept 2\n"}, message="Note the secret")
    save(space, {"other.md": "other\n"}, message="Between")
    save(space, {"topic/secret.md": "secret 2\n"}, message="Change the secret")
    save(space, {"topic/secret.md": None}, message="Delete the secret")
    save(space, {"topic/secret.md": "somebody else's\n"}, message="Another note of that name")
    return space


def blobs(*texts):
    return [bytes.fromhex(blob_id(text.encode())) for text in texts]


def erased(space_id, *texts):
    with bound(space_id):
        gone = dict.fromkeys(blobs(*texts))
        return erase(space_id, gone, names=[], author=ADMIN, reason="Request of 3 March", moment=NOON)


def test_nothing_of_it_is_left_and_all_else_is(space_id):
    before = log(space_id)
    erased(space_id, "secret 1\n", "secret 2\n")
    assert check_history(space_id).problems == []
    assert not Object.objects.filter(space_id=space_id, oid__in=blobs("secret 1\n", "secret 2\n")).exists()
    after = log(space_id)
    assert [entry.message for entry in after] == [
        "Erase something for good\n\nRequest of 3 March", "Another note of that name", MESSAGE, MESSAGE, "Between",
        MESSAGE, "First",
    ]  # fmt: skip
    assert after[0].author_email == "admin@example.org"
    assert [entry.moment for entry in after[1:]] == [entry.moment for entry in before]
    assert after[-1].oid == before[-1].oid
    assert not {entry.oid for entry in after[:-1]} & {entry.oid for entry in before}
    assert sorted(list_files(space_id)) == ["kept.md", "other.md", "topic/secret.md"]
    assert file_at(space_id, None, "topic/secret.md") == b"somebody else's\n"
    assert list(list_files(space_id, after[4].oid)) == ["kept.md", "other.md"]
    assert [change.path for change in show(space_id, after[5].oid).changes] == ["kept.md"]


def test_each_commit_that_got_another_id_is_told(space_id):
    before = {entry.sequence: entry.oid for entry in log(space_id)}
    renamed = erased(space_id, "secret 1\n").renamed
    after = {entry.sequence: entry.oid for entry in log(space_id)}
    assert renamed == {before[number]: after[number] for number in range(2, 7)}


def test_clones_and_mirrors_diverge(space_id, tmp_path, django_capture_on_commit_callbacks):
    path = updated_mirror(space_id)
    git.run(tmp_path, "clone", "-q", str(path), "copy")
    with django_capture_on_commit_callbacks(execute=True):
        erased(space_id, "secret 1\n", "secret 2\n")
    assert not path.exists()
    path = updated_mirror(space_id)
    assert git.run(path, "fsck", "--full", "--strict", "--unreachable") == ""
    assert "secret 1" not in git.run(path, "log", "-p", "main")
    assert "forced update" in git.run(tmp_path / "copy", "fetch", both=True)
    assert "Not possible to fast-forward" in git.run(tmp_path / "copy", "pull", "--ff-only", fails=True)


def test_a_mirror_of_another_machine_is_made_anew(space_id):
    path = updated_mirror(space_id)
    erased(space_id, "secret 1\n", "secret 2\n")
    assert path.exists()
    updated_mirror(space_id)
    assert git.run(path, "fsck", "--full", "--strict", "--unreachable") == ""
    objects = git.run(path, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert blob_id(b"secret 1\n") not in objects
    assert [file.name for file in mirrors_folder().iterdir() if file.suffix == ".git"] == [path.name]


def test_commits_go_on_afterwards(space_id):
    erased(space_id, "secret 1\n")
    made = saved(space_id, {"new.md": "new\n"})
    assert made.sequence == 8
    assert check_history(space_id).problems == []


def test_even_the_first_and_only_file_can_be_erased(settings, tmp_path, db):
    settings.MEMORY_HOME = tmp_path
    space = make_space().id
    save(space, {"only.md": "only\n"})
    erased(space, "only\n")
    assert list_files(space) == {}
    assert check_history(space).problems == []
    assert git.run(updated_mirror(space), "fsck", "--full", "--strict") == ""


def test_what_is_not_there_cannot_be_erased(space_id):
    with pytest.raises(NotFound):
        erased(space_id, "never said\n")
    with pytest.raises(NotFound):
        erased(make_space().id, "secret 1\n")
    with bound(space_id):
        assert set(dict(contents_with(space_id, [b"secret"])).values()) == {b"secret 1\n", b"secret 2\n"}


def test_a_content_can_be_replaced_and_messages_that_name_it_are_too(space_id):
    (kept,) = blobs("kept 2\n")
    with bound(space_id):
        erase(space_id, {kept: b"kept, shortened\n"}, names=["Between"], author=ADMIN, reason="Asked", moment=NOON)
    assert check_history(space_id).problems == []
    assert file_at(space_id, None, "kept.md") == b"kept, shortened\n"
    assert [entry.message for entry in log(space_id)][1:] == [
        "Another note of that name", "Delete the secret", "Change the secret", MESSAGE, "Note the secret", "First",
    ]  # fmt: skip
