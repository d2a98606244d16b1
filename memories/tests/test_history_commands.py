"""`bin/manage history` verify, undo and rebuild, as an administrator types them."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from history.mirror import export
from memories.models import Memory
from memories.notes import read_note
from memories.services.notes import update_note
from memories.tests.factories import make_access, make_space
from memories.tests.notes import write

pytestmark = pytest.mark.django_db(transaction=True)


def manage(*arguments):
    out = StringIO()
    call_command("history", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def access():
    return make_access()


def test_verify_tells_and_repairs(access):
    key = access.space(None).key
    write(access, "Hours")
    assert "rows and history agree, 2 files" in manage("verify")
    Memory.objects.update(text="Smuggled.")
    with pytest.raises(CommandError, match="Something is wrong"):
        manage("verify", "--space", key)
    with pytest.raises(CommandError, match="--as"):
        manage("verify", "--space", key, "--repair", "rows")
    assert json.loads(manage("verify", "--space", key, "--repair", "rows", "--as", access.email, "--json"))["spaces"][
        0
    ]["is_well"]
    assert Memory.objects.get().text == "Text."
    Memory.objects.update(text="Meant so.")
    manage("verify", "--repair", "history", "--as", access.email)
    assert Memory.objects.get().text == "Meant so."


def test_undo_shows_first_and_does_it_when_asked(access):
    key = access.space(None).key
    note = write(access, "Hours", "Six.")
    update_note(access, note.id, text="Seven.")
    commit = json.loads(manage("log", "--space", key, "--json"))["commits"][0]["oid"]
    shown = manage("undo", "--space", key, "--as", access.email, "--commit", commit)
    assert "+Six." in shown
    assert "--apply does it" in shown
    assert read_note(access, note.id).text == "Seven."
    assert "Took back 1 changed memories" in manage(
        "undo", "--space", key, "--as", access.email, "--commit", commit, "--reason", "wrong", "--apply"
    )
    assert read_note(access, note.id).text == "Six."
    with pytest.raises(CommandError, match="such as"):
        manage("undo", "--space", key, "--as", access.email, "--since", "yesterday")
    with pytest.raises(CommandError, match="Say what"):
        manage("undo", "--space", key, "--as", access.email)


def test_rebuild_fills_an_empty_space(access, tmp_path):
    write(access, "Hours")
    export(access.space(None).id, tmp_path / "team.git")
    Memory.objects.all().delete()
    space = make_space()
    assert "1 memories, 0 forgotten ones and 1 versions from 1 commits" in manage(
        "rebuild", "--space", space.key, "--from", str(tmp_path / "team.git"), "--as", access.email
    )
    assert "rows and history agree" in manage("verify", "--space", space.key)
