"""`bin/manage history`: what each subcommand prints, as text and as JSON, and its mistakes."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from history.models import Object
from history.tests import git
from history.tests.builders import save, saved
from memories.tests.factories import make_space


@pytest.fixture
def space_id(db):
    space = make_space("team").id
    save(space, {"hours.md": "Open at nine.\n"}, message="Hours")
    save(space, {"hours.md": "Open at eight.\n"}, message="Earlier", trailers={"Key": "laptop"})
    return space


def run(*arguments):
    out = StringIO()
    call_command("history", *arguments, stdout=out)
    return out.getvalue()


def data(*arguments):
    return json.loads(run(*arguments, "--json"))


def test_log_lists_commits_of_a_path(space_id):
    save(space_id, {"other.md": "x"}, message="Other")
    assert [line.split("  ")[2:] for line in run("log", "--space", "team").splitlines()] == [
        ["Ada Lovelace", "Other"], ["Ada Lovelace", "Earlier"], ["Ada Lovelace", "Hours"],
    ]  # fmt: skip
    found = data("log", "--space", "team", "--path", "hours.md", "--limit", "1")["commits"]
    assert [(commit["message"], commit["key_label"]) for commit in found] == [("Earlier", "laptop")]
    assert data("log", "--space", "team", "--before", found[0]["oid"])["commits"][0]["message"] == "Hours"


def test_show_prints_the_commit_with_its_diff(space_id):
    text = run("show", "--space", "team")
    assert "Author: Ada Lovelace <ada@example.org>" in text
    assert "    Key: laptop" in text
    assert text.endswith("--- a/hours.md\n+++ b/hours.md\n@@ -1 +1 @@\n-Open at nine.\n+Open at eight.\n")


def test_blame_names_the_commit_of_each_line(space_id):
    made = saved(space_id, {"hours.md": "Open at eight.\nOr later.\n"})
    lines = data("blame", "--space", "team", "--path", "hours.md")["lines"]
    assert [line["commit"] == made.oid for line in lines] == [False, True]
    assert "Or later." in run("blame", "--space", "team", "--path", "hours.md")


def test_fsck_looks_at_all_spaces_and_fails_when_one_is_damaged(space_id):
    other = make_space("other").id
    save(other, {"a.md": "x"})
    assert run("fsck").splitlines() == [
        "other: whole, 1 commits, 3 objects",
        "team: whole, 2 commits, 6 objects",
    ]
    Object.objects.filter(space_id=other, kind=3).delete()
    assert data("fsck", "--space", "team")["spaces"][0]["problems"] == []
    with pytest.raises(CommandError, match="Something is wrong"):
        run("fsck")


def test_export_writes_a_bare_repository(space_id, tmp_path):
    assert data("export", "--space", "team", "--to", str(tmp_path / "team.git"))["commits"] == 2
    assert git.run(tmp_path / "team.git", "log", "--format=%s").split() == ["Earlier", "Hours"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["log"], "--space"),
        (["log", "--space", "nowhere"], "no space with the key"),
        (["show", "--space", "team", "--commit", "xyz"], "seven or more"),
        (["blame", "--space", "team", "--path", "no.md"], "no file"),
        (["nonsense"], "invalid choice"),
        ([], "required"),
    ],
)
def test_mistakes_are_one_sentence(space_id, arguments, said):
    with pytest.raises(CommandError, match=said):
        run(*arguments)
