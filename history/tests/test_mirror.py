"""The repository on disk is the one in the database: real git finds it whole, and it may be thrown away."""

import shutil

import pytest

from core.errors import Conflict
from history import mirror
from history.mirror import export, mirrors_folder, updated_mirror
from history.queries import log
from history.tests import git
from history.tests.builders import save, saved
from memories.tests.factories import make_space

pytestmark = pytest.mark.django_db


@pytest.fixture
def space_id(settings, tmp_path):
    settings.MEMORY_HOME = tmp_path
    return make_space().id


def assert_whole(path, space_id):
    assert git.run(path, "fsck", "--full", "--strict", "--unreachable") == ""
    assert git.run(path, "log", "--format=%H").split() == [entry.oid for entry in log(space_id, limit=1000)]


def test_the_mirror_of_an_empty_space_is_an_empty_repository(space_id):
    path = updated_mirror(space_id)
    assert git.run(path, "for-each-ref") == ""
    assert git.run(path, "symbolic-ref", "HEAD").strip() == "refs/heads/main"


def test_the_mirror_follows_commit_by_commit(space_id):
    updated_mirror(space_id)
    for number in range(3):
        save(space_id, {f"topic/{number}.md": f"Text {number}\n", "shared.md": f"{number}\n"}, message=f"No {number}")
        path = updated_mirror(space_id)
        assert_whole(path, space_id)
    assert git.run(path, "show", "main:topic/2.md") == "Text 2\n"
    assert git.run(path, "log", "-1", "--format=%an <%ae> %cn %ad", "--date=iso").strip() == (
        "Ada Lovelace <ada@example.org> Memory server 2026-03-01 12:00:00 +0000"
    )


def test_only_what_is_missing_is_fetched(space_id):
    for number in range(5):
        save(space_id, {f"{number}.md": "x" * number})
    path = updated_mirror(space_id)
    save(space_id, {"one.md": "more"})
    before = set((path / "objects/pack").glob("*.pack"))
    updated_mirror(space_id)
    (new,) = set((path / "objects/pack").glob("*.pack")) - before
    assert len(git.run(path, "verify-pack", "-v", str(new.with_suffix(".idx"))).splitlines()) == 3 + 2
    stamp = new.stat().st_mtime_ns
    assert updated_mirror(space_id) == path
    assert new.stat().st_mtime_ns == stamp


def test_many_small_packs_are_put_together(space_id, monkeypatch):
    monkeypatch.setattr(mirror, "_MOST_PACKS", 4)
    for number in range(12):
        save(space_id, {f"{number}.md": f"{number}"})
        path = updated_mirror(space_id)
    assert len(list((path / "objects/pack").glob("*.pack"))) <= 5
    assert_whole(path, space_id)


def test_a_mirror_that_is_lost_or_knows_something_else_is_made_anew(space_id):
    made = saved(space_id, {"a.md": "1"})
    path = updated_mirror(space_id)
    shutil.rmtree(path)
    assert_whole(updated_mirror(space_id), space_id)
    (path / "refs/heads/main").write_text("f" * 40 + "\n")
    assert_whole(updated_mirror(space_id), space_id)
    shutil.rmtree(path / "objects")
    save(space_id, {"a.md": "2"})
    assert_whole(updated_mirror(space_id), space_id)
    assert git.run(path, "cat-file", "-t", made.oid).strip() == "commit"
    assert [file.name for file in mirrors_folder().iterdir() if file.suffix != ".lock"] == [path.name]


def test_objects_of_many_kinds_and_sizes_survive_the_pack(space_id, monkeypatch):
    monkeypatch.setattr("history.packs._KEYS", 7)
    monkeypatch.setattr("history.packs._BATCH_BYTES", 1000)
    sizes = [0, 1, 15, 16, 17, 2047, 2048, 2049, 300_000]
    save(space_id, {f"{size}.md": "ä" * (size // 2) + "x" * (size % 2) for size in sizes})
    save(space_id, {"0.md": None, "deep/er/file.md": "x"})
    path = updated_mirror(space_id)
    assert_whole(path, space_id)
    listed = {line.split("\t")[1]: line.split()[3] for line in git.run(path, "ls-tree", "-lr", "main").splitlines()}
    assert listed == {**{f"{size}.md": str(size) for size in sizes if size}, "deep/er/file.md": "1"}


def test_an_export_is_a_repository_to_clone_from(space_id, tmp_path):
    save(space_id, {"a.md": "1"})
    save(space_id, {"b.md": "2"})
    assert export(space_id, tmp_path / "out.git") == 2
    git.run(tmp_path, "clone", "-q", "out.git", "copy")
    assert sorted(file.name for file in (tmp_path / "copy").glob("*.md")) == ["a.md", "b.md"]
    with pytest.raises(Conflict, match="exists already"):
        export(space_id, tmp_path / "out.git")
