"""Real git against the running site: clone, fetch, pull, shallow, partial; and who may."""

import base64
import gzip
import shutil
import time

import httpx2
import pytest

from history.http import endpoint
from history.mirror import mirrors_folder
from history.queries import log
from history.tests import git
from history.tests.builders import save, saved
from memories.tests.factories import make_key, make_person, make_space
from spaces.models import AccessLevel, SpaceUserPermission


@pytest.fixture
def space(site, settings, tmp_path):
    settings.MEMORY_HOME = tmp_path / "home"
    space = make_space("team")
    save(space.id, {"hours.md": "Open at nine.\n"}, message="Hours")
    save(space.id, {"hours.md": "Open at eight.\n", "topic/deep/ä.md": "Deep\n"}, message="Earlier")
    return space


@pytest.fixture
def key(space):
    return make_key(make_person(), space, level=AccessLevel.READ).secret


def url(site, key, space="team"):
    return f"{site.replace('http://', f'http://anybody:{key}@')}/git/{space}.git"


def test_a_clone_has_everything_and_is_whole(site, space, key, tmp_path):
    git.run(tmp_path, "clone", "-q", url(site, key), "copy")
    copy = tmp_path / "copy"
    assert (copy / "topic/deep/ä.md").read_text() == "Deep\n"
    assert git.run(copy, "fsck", "--full", "--strict") == ""
    assert git.run(copy, "log", "--format=%H").split() == [entry.oid for entry in log(space.id)]
    assert git.run(copy, "log", "--format=%an %s", "--", "hours.md").splitlines() == [
        "Ada Lovelace Earlier", "Ada Lovelace Hours",
    ]  # fmt: skip
    assert "Ada Lovelace" in git.run(copy, "blame", "hours.md")
    assert git.run(copy, "branch", "--show-current").strip() == "main"


def test_fetch_and_pull_bring_what_is_new(site, space, key, tmp_path):
    git.run(tmp_path, "clone", "-q", url(site, key), "copy")
    copy = tmp_path / "copy"
    made = saved(space.id, {"new.md": "New\n"})
    git.run(copy, "fetch", "-q")
    assert git.run(copy, "rev-parse", "origin/main").strip() == made.oid
    save(space.id, {"hours.md": None})
    git.run(copy, "pull", "-q")
    assert sorted(file.name for file in copy.glob("*.md")) == ["new.md"]
    git.run(copy, "pull", "-q")


@pytest.mark.parametrize("version", ["0", "1", "2"])
def test_every_protocol_version_shallow_deepened_and_partial(site, space, key, tmp_path, version):
    protocol = ["-c", f"protocol.version={version}"]
    git.run(tmp_path, *protocol, "clone", "-q", "--depth=1", url(site, key), "shallow")
    shallow = tmp_path / "shallow"
    assert git.run(shallow, "rev-list", "--count", "HEAD").strip() == "1"
    save(space.id, {"more.md": "x"})
    git.run(shallow, *protocol, "pull", "-q")
    git.run(shallow, *protocol, "fetch", "-q", "--unshallow")
    assert git.run(shallow, "rev-list", "--count", "HEAD").strip() == "3"
    assert git.run(shallow, "fsck", "--full") == ""
    git.run(tmp_path, *protocol, "clone", "-q", "--filter=blob:none", "--no-checkout", url(site, key), "partial")
    git.run(tmp_path / "partial", *protocol, "checkout", "-q", "main")
    assert (tmp_path / "partial/hours.md").exists()


def test_a_space_without_history_is_cloned_as_an_empty_repository(site, space, tmp_path):
    empty = make_space("empty")
    key = make_key(make_person(), empty).secret
    git.run(tmp_path, "clone", "-q", url(site, key, "empty"), "copy")
    made = saved(empty.id, {"a.md": "1"})
    git.run(tmp_path / "copy", "pull", "-q")
    assert git.run(tmp_path / "copy", "rev-parse", "HEAD").strip() == made.oid


def test_keys_of_any_script_are_addresses(site, space, tmp_path):
    team = make_space("büro.メモ.git")
    save(team.id, {"a.md": "1"})
    git.run(tmp_path, "clone", "-q", url(site, make_key(make_person(), team).secret, "büro.メモ.git"), "copy")
    assert (tmp_path / "copy/a.md").exists()


def test_the_key_may_come_in_a_header(site, space, key, tmp_path):
    for header in (f"Authorization: Bearer {key}", f"X-Api-Key: {key}"):
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        git.run(tmp_path, "-c", f"http.extraHeader={header}", "clone", "-q", f"{site}/git/team.git", "copy")


def test_without_a_key_or_with_a_wrong_one_git_asks_again(site, space, tmp_path):
    assert "could not read Username" in git.run(tmp_path, "clone", f"{site}/git/team.git", "copy", fails=True)
    said = git.run(tmp_path, "clone", url(site, "mmcp_wrong"), "copy", fails=True)
    assert "Authentication failed" in said
    answer = httpx2.get(f"{site}/git/team.git/info/refs?service=git-upload-pack")
    assert (answer.status_code, answer.headers["www-authenticate"][:5]) == (401, "Basic")


@pytest.mark.parametrize("value", [b"\xe9\xff", b"=", b"YQ", base64.b64encode(b"\xff:\xff")])
def test_what_is_no_basic_authorization_is_no_key(site, space, value):
    header = [(b"Authorization", b"Basic " + value)]
    answer = httpx2.get(f"{site}/git/team.git/info/refs?service=git-upload-pack", headers=header)
    assert answer.status_code == 401


def test_a_foreign_space_looks_like_one_that_does_not_exist(site, space, tmp_path):
    person = make_person()
    key = make_key(person, make_space("own"))
    removed = make_key(make_person(), space)
    SpaceUserPermission.objects.filter(user=removed.key.user).delete()
    for secret in (key.secret, removed.secret):
        answers = []
        for name in ("team", "nowhere"):
            said = git.run(tmp_path, "clone", url(site, secret, name), "copy", fails=True)
            assert "not found" in said
            answer = httpx2.get(
                f"{site}/git/{name}.git/info/refs?service=git-upload-pack", headers={"X-Api-Key": secret}
            )
            answers.append((answer.status_code, answer.text.replace(name, "")))
        assert answers[0] == answers[1]
        assert answers[0][0] == 404
    assert not any(mirrors_folder().glob(f"{space.id}*"))


def test_a_head_that_moves_between_the_two_steps_does_not_matter(site, space, key):
    with httpx2.Client(headers={"X-Api-Key": key}) as client:
        refs = client.get(f"{site}/git/team.git/info/refs?service=git-upload-pack").content
        oid = refs.split(b"\n")[1][8:48]
        save(space.id, {"later.md": "x"})
        assert oid.decode() == log(space.id)[1].oid
        wanted = b"0032want %b\n00000009done\n" % oid
        answer = client.post(
            f"{site}/git/team.git/git-upload-pack",
            content=gzip.compress(wanted),
            headers={"Content-Type": "application/x-git-upload-pack-request", "Content-Encoding": "gzip"},
        )
    assert answer.status_code == 200
    assert answer.content.startswith(b"0008NAK\nPACK")
    assert answer.headers["cache-control"].startswith("no-cache")


def test_requests_that_git_does_not_make_are_refused(site, space, key):
    kind = {"Content-Type": "application/x-git-upload-pack-request"}
    with httpx2.Client(headers={"X-Api-Key": key}, base_url=f"{site}/git/") as client:
        assert client.get("team.git/info/refs").status_code == 403
        assert client.get("team.git/HEAD").status_code == 404
        assert client.get("team.git/../team.git/config").status_code == 404
        assert client.get("team/info/refs?service=git-upload-pack").status_code == 404
        assert client.get("team.git/git-upload-pack").status_code == 405
        assert client.post("team.git/git-upload-pack", content=b"0000").status_code == 415
        assert client.post("team.git/git-upload-pack", content=b"0000", headers=kind).status_code == 200
        odd = client.post("team.git/git-upload-pack", content=b"x", headers={**kind, "Content-Encoding": "br"})
        assert odd.status_code == 415
        odd = client.post("team.git/git-upload-pack", content=b"x", headers={**kind, "Content-Encoding": "gzip"})
        assert odd.status_code == 400
        odd = client.get("team.git/info/refs?service=git-upload-pack", headers={"Host": "evil.example"})
        assert odd.status_code == 421


def test_bodies_are_bounded_also_when_they_are_packed(site, space, key, monkeypatch):
    monkeypatch.setattr(endpoint, "_MAXIMUM_FETCH_BYTES", 100_000)
    kind = {"Content-Type": "application/x-git-upload-pack-request", "X-Api-Key": key}
    address = f"{site}/git/team.git/git-upload-pack"
    assert httpx2.post(address, content=b"0" * 100_001, headers=kind).status_code == 413
    bomb = gzip.compress(b"0" * 50_000_000)
    assert len(bomb) < 100_000
    assert httpx2.post(address, content=bomb, headers={**kind, "Content-Encoding": "gzip"}).status_code == 413


def test_a_body_that_does_not_come_is_not_waited_for(site, space, key, settings):
    settings.MAXIMUM_BODY_SECONDS = 0.2

    def slow():
        yield b"0032"
        time.sleep(1)
        yield b"done"

    kind = {"Content-Type": "application/x-git-upload-pack-request", "X-Api-Key": key}
    answer = httpx2.post(f"{site}/git/team.git/git-upload-pack", content=slow(), headers=kind)
    assert answer.status_code == 408


def test_without_git_on_the_server_the_client_is_told(site, space, key, tmp_path, monkeypatch):
    monkeypatch.setattr("history.git.shutil.which", lambda name: None)
    said = git.run(tmp_path, "clone", url(site, key), "copy", fails=True)
    assert "remote: git is not installed on this server" in said


def test_the_limit_of_requests_holds_for_git(site, space, key, tmp_path, settings, monkeypatch):
    # Wrong keys of other tests from this machine's address do not count.
    monkeypatch.setattr(endpoint, "client_address", lambda peer, forwarded_for: "192.0.2.17")
    settings.RATE_LIMIT_ENABLED, settings.RATE_LIMIT_REQUESTS = True, 2
    asked = ["-c", f"http.extraHeader=X-Api-Key: {key}", "ls-remote", f"{site}/git/team.git"]
    assert "refs/heads/main" in git.run(tmp_path, *asked)
    assert "remote: Too many requests; try again in" in git.run(tmp_path, *asked, fails=True)
