"""Real git pushes to the running site: taken as changes, or refused whole with a sentence that git prints."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from core.errors import Conflict, Invalid
from history.mirror import mirrors_folder
from history.queries import file_at, head, list_files, log
from history.services import push
from history.services.attribution import author_of, trailers_of
from history.services.commits import commit
from history.tests import git
from history.tests.builders import NOON, save, saved
from memories.tests.factories import make_key, make_person, make_space
from spaces.models import AccessLevel


def apply_push(access, space, changes, message):
    """What an app does that keeps its files as they are pushed, but for a line of its own."""
    if any(content is not None and b"forbidden" in content for content in changes.values()):
        raise Invalid("“forbidden” is not a word that is kept\nhere.")
    stamped = {path: None if content is None else content + b"-- kept\n" for path, content in changes.items()}
    commit(space.id, stamped, author=author_of(access), message=message, trailers=trailers_of(access), moment=NOON)


@pytest.fixture
def space(site, settings, tmp_path, monkeypatch):
    settings.MEMORY_HOME = tmp_path / "home"
    monkeypatch.setattr(push, "_registered", [apply_push])
    space = make_space("team")
    save(space.id, {"hours.md": "Open at nine.\n", "topic/a.md": "A\n"}, message="Hours")
    return space


@pytest.fixture
def copy(site, space, tmp_path):
    key = make_key(make_person("Ada"), space).secret
    git.run(tmp_path, "clone", "-q", f"{site.replace('http://', f'http://x:{key}@')}/git/team.git", "copy")
    return tmp_path / "copy"


def change(copy, files, message="Changed"):
    for path, text in files.items():
        target = copy / path
        if text is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
    git.run(copy, "add", "-A")
    git.run(copy, "commit", "-q", "-m", message)


def push_from(copy, *arguments, fails=False):
    """What git prints of a push, on both of its outputs."""
    return git.run(copy, "push", *(arguments or ("origin", "main")), fails=fails)


def refused(copy, space, *arguments):
    """A push that is refused: what git prints, and nothing is changed by it."""
    before = head(space.id)
    said = push_from(copy, *arguments, fails=True)
    assert head(space.id) == before
    assert [path.name for path in mirrors_folder().iterdir() if path.name.startswith("push-")] == []
    return said


def test_a_push_becomes_changes_made_by_the_pusher(space, copy):
    change(copy, {"hours.md": "Open at eight.\n", "topic/a.md": None, "new/b.md": "B\n"}, "First")
    change(copy, {"new/b.md": "B2\n"}, "Second")
    git.run(copy, "push", "origin", "main")
    assert sorted(list_files(space.id)) == ["hours.md", "new/b.md"]
    assert file_at(space.id, None, "new/b.md") == b"B2\n-- kept\n"
    entry = log(space.id)[0]
    assert (entry.author_name, entry.message, entry.trailers) == (
        "Ada", "First\n\nSecond", {"Key": "test", "Surface": "git"},
    )  # fmt: skip
    assert len(log(space.id)) == 2


def test_after_a_push_a_pull_with_rebase_leads_to_what_the_server_kept(space, copy):
    change(copy, {"hours.md": "Open at eight.\n"})
    push_from(copy)
    git.run(copy, "pull", "-q", "--rebase")
    assert git.run(copy, "rev-parse", "HEAD").strip() == head(space.id)
    assert (copy / "hours.md").read_text() == "Open at eight.\n-- kept\n"
    change(copy, {"hours.md": "Open at seven.\n"})
    push_from(copy)


def test_the_client_is_told_where_its_push_went(space, copy):
    change(copy, {"hours.md": "Open at eight.\n"})
    said = git.run(copy, "push", "origin", "main", both=True)
    assert f"remote: Saved as {log(space.id)[0].oid[:10]}. Bring your copy up to it with: git pull --rebase" in said
    git.run(copy, "pull", "-q", "--rebase")
    git.run(copy, "commit", "-q", "--allow-empty", "-m", "Nothing")
    assert "remote: Nothing differs" in git.run(copy, "push", "origin", "main", both=True)


def test_a_first_push_fills_an_empty_space(site, space, tmp_path):
    empty = make_space("empty")
    key = make_key(make_person(), empty).secret
    git.run(tmp_path, "init", "-q", "-b", "main", "fresh")
    change(tmp_path / "fresh", {"a.md": "A\n"})
    git.run(tmp_path / "fresh", "push", f"{site.replace('http://', f'http://x:{key}@')}/git/empty.git", "main")
    assert list(list_files(empty.id)) == ["a.md"]


def test_a_large_push_in_pieces_is_taken(space, copy):
    change(copy, {f"large/{number}.md": os.urandom(400_000).hex() for number in range(3)})
    git.run(copy, "-c", "http.postBuffer=100000", "push", "origin", "main")
    assert len(list_files(space.id)) == 5


def test_what_the_app_refuses_is_printed_and_nothing_is_kept(space, copy):
    change(copy, {"fine.md": "Fine\n", "bad.md": "forbidden\n"})
    said = refused(copy, space)
    assert "remote: “forbidden” is not a word that is kept here." in said
    assert "! [remote rejected] main -> main" in said


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("program.py", "x\n", "no Markdown file"),
        (".gitattributes", "* text\n", "cannot be kept in the history"),
        ("picture.md", b"\xff\xfe\x00", "is not UTF-8 text"),
        ("null.md", "a\x00b", "contains NUL"),
        ("large.md", "x" * (5 * 2**20 + 1), "too large"),
        ("back\\slash.md", "x\n", "cannot be kept in the history"),
        ("trailing .md/a.md ", "x\n", "cannot be kept in the history"),
    ],
)
def test_only_markdown_files_of_a_bounded_size_are_taken(space, copy, path, content, reason):
    change(copy, {path: content})
    assert reason in refused(copy, space)


def test_links_executables_and_submodules_are_refused(space, copy):
    (copy / "link.md").symlink_to("/etc/passwd")
    git.run(copy, "add", "-A")
    git.run(copy, "commit", "-q", "-m", "Link")
    assert "“link.md” is a symbolic link" in refused(copy, space)
    git.run(copy, "reset", "-q", "--hard", "origin/main")
    (copy / "hours.md").chmod(stat.S_IRWXU)
    git.run(copy, "commit", "-qam", "Executable")
    assert "“hours.md” is an executable" in refused(copy, space)
    git.run(copy, "reset", "-q", "--hard", "origin/main")
    git.run(copy, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub.md")
    git.run(copy, "commit", "-q", "-m", "Submodule")
    assert "“sub.md” is a submodule" in refused(copy, space)


def test_git_finds_what_no_client_can_check_out(space, copy):
    blob = git.run(copy, "hash-object", "-w", "hours.md").strip()
    tree = git.run(copy, "mktree", stdin=f"100644 blob {blob}\t.git\n".encode()).strip()
    made = git.run(copy, "commit-tree", tree, "-p", "HEAD", "-m", "Trick").strip()
    assert "hasDotgit" in refused(copy, space, "origin", f"{made}:refs/heads/main")


def test_only_main_forward_and_never_deleted(space, copy):
    change(copy, {"a.md": "A\n"})
    assert "Only the branch main is kept here, so other was not pushed" in refused(copy, space, "origin", "HEAD:other")
    assert "Only the branch main" in refused(copy, space, "origin", "main", "HEAD:refs/tags/v1")
    assert "main cannot be deleted" in refused(copy, space, "origin", ":main")
    git.run(copy, "checkout", "-q", "--orphan", "else")
    git.run(copy, "commit", "-q", "-m", "Unrelated")
    assert "non-fast-forward" in refused(copy, space, "--force", "origin", "else:main")


def test_a_push_onto_what_is_no_longer_the_head_is_refused(space, copy, monkeypatch):
    change(copy, {"a.md": "A\n"})
    save(space.id, {"hours.md": "Open at ten.\n"})
    assert "fetch first" in refused(copy, space)
    git.run(copy, "pull", "-q", "--rebase")

    def overtaken(*arguments):
        raise Conflict("Too late.")

    monkeypatch.setattr(push, "_registered", [overtaken])
    assert "remote: Too late." in refused(copy, space)


def test_a_commit_between_receiving_and_applying_refuses_the_push(space, copy, monkeypatch):
    change(copy, {"a.md": "A\n"})
    plain = push.lock

    def overtaken(space_id):
        monkeypatch.setattr(push, "lock", plain)
        with ThreadPoolExecutor(1) as pool:
            made.append(pool.submit(saved, space_id, {"late.md": "x"}).result())
        return plain(space_id)

    made = []
    monkeypatch.setattr(push, "lock", overtaken)
    assert "remote: main has moved since" in push_from(copy, fails=True)
    assert head(space.id) == made[0].oid
    assert "a.md" not in list_files(space.id)


def test_too_many_files_are_refused_before_they_are_read(space, copy, monkeypatch):
    change(copy, {f"{number}.md": "x" for number in range(1001)})
    assert "At most 1,000 files" in refused(copy, space)


def test_a_small_pack_that_unfolds_to_endless_files_is_refused(space, copy):
    blob = git.run(copy, "hash-object", "-w", "hours.md").strip()
    tree = git.run(copy, "mktree", stdin=f"100644 blob {blob}\ta.md\n".encode()).strip()
    for _ in range(12):
        lines = "".join(f"040000 tree {tree}\t{name}\n" for name in "abcdefghij")
        tree = git.run(copy, "mktree", stdin=lines.encode()).strip()
    made = git.run(copy, "commit-tree", tree, "-p", "HEAD", "-m", "Bomb").strip()
    assert "More than 1,000 folders" in refused(copy, space, "origin", f"{made}:refs/heads/main")


def test_readers_and_narrow_keys_do_not_push(site, space, copy):
    person = make_person()
    for new in (make_key(person, space, level=AccessLevel.READ), make_key(make_person(role="Reader"), space)):
        git.run(
            copy, "remote", "set-url", "origin", f"{site.replace('http://', f'http://x:{new.secret}@')}/git/team.git"
        )
        change(copy, {f"{new.secret}.md": "x\n"})
        assert "remote: You may read space “team”, but not write to it" in refused(copy, space)
    outsider = make_key(make_person(), make_space("own")).secret
    git.run(copy, "remote", "set-url", "origin", f"{site.replace('http://', f'http://x:{outsider}@')}/git/team.git")
    assert "not found" in refused(copy, space)


def test_without_an_app_that_takes_it_a_push_is_refused(space, copy, monkeypatch):
    monkeypatch.setattr(push, "_registered", [])
    change(copy, {"a.md": "A\n"})
    assert "remote: Space “team” cannot be changed by git push" in refused(copy, space)


def test_an_error_of_ours_refuses_the_push_with_a_number(space, copy, monkeypatch):
    def broken(access, space, changes, message):
        commit(space.id, changes, author=author_of(access), message=message, trailers={}, moment=NOON)
        raise ZeroDivisionError

    monkeypatch.setattr(push, "_registered", [broken])
    change(copy, {"a.md": "A\n"})
    assert "remote: Something went wrong on the server (error " in refused(copy, space)


@pytest.mark.parametrize("body", [b"", b"zzzz", b"0003", b"ffff", b"00", b"0010hello world\n", b"0000"])
def test_bodies_that_are_no_push_change_nothing(site, space, copy, body):
    key = make_key(make_person(), space).secret
    kind = {"Content-Type": "application/x-git-receive-pack-request", "X-Api-Key": key}
    answer = httpx2.post(f"{site}/git/team.git/git-receive-pack", content=body, headers=kind)
    assert answer.status_code == (200 if body == b"0000" else 400)
    assert len(log(space.id)) == 1
