"""Of an erased memory nothing is left in any table; neighbours, versions and history still agree."""

import json
import zlib
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from core.errors import Invalid, NotFound
from documents.models import Document
from history.checks import check_history
from history.models import Commit, Object
from history.queries import list_files, log
from memories.models import Memory, Version
from memories.services.erase import erase_memories
from memories.services.links import link_notes
from memories.services.notes import delete_note, update_note
from memories.services.verify import check_rows
from memories.tests.factories import make_access, remember
from memories.tests.notes import write
from spaces.isolation import bound

pytestmark = pytest.mark.django_db
MARK = "xylophone"


@pytest.fixture
def access():
    return make_access()


@pytest.fixture
def secret(access):
    """A note about the mark with a past, and a neighbour that links to it."""
    note = write(access, f"The {MARK}", f"Where the {MARK} is.", topic="attic", tags=[MARK])
    neighbour = write(access, "Neighbour", "Untouched.", topic="attic")
    link_notes(access, neighbour.id, note.id, "causes", note=f"because of the {MARK}")
    update_note(access, note.id, text=f"The {MARK} moved.")
    update_note(access, note.id, title=f"That {MARK}")
    update_note(access, neighbour.id, text="Touched afterwards.")
    return note


def places_with(mark):
    """Tables of ours whose rows mention the mark, histories unpacked."""
    found = set()
    for model in apps.get_models(include_auto_created=True):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {model._meta.db_table} t WHERE t::text ILIKE %s", [f"%{mark}%"])
            if cursor.fetchone()[0]:
                found.add(model._meta.db_table)
    if any(mark.encode() in zlib.decompress(bytes(data)) for data in Object.objects.values_list("data", flat=True)):
        found.add("objects")
    return found


def erase(access, *ids):
    return erase_memories(access, access.space(None), ids, reason="Request of 3 March")


def assert_whole(access):
    space = access.space(None)
    assert check_history(space.id).problems == []
    assert check_rows(space).is_well
    commits = {bytes(oid).hex() for oid in Commit.objects.values_list("oid", flat=True)}
    assert set(Version.objects.exclude(commit="").values_list("commit", flat=True)) <= commits


def test_a_note_with_its_past_is_gone_from_every_table(access, secret):
    assert len(places_with(MARK)) > 4
    done = erase(access, secret.id)
    assert places_with(MARK) == set()
    assert (done.memories, done.versions) == (1, 4)
    assert_whole(access)
    assert sorted(list_files(access.space(None).id)) == ["attic/.topic.yaml", "attic/neighbour.md"]
    newest = log(access.space(None).id)[0]
    assert (newest.author_email, newest.message) == (access.email, "Erase something for good\n\nRequest of 3 March")
    assert Memory.objects.get().text == "Touched afterwards."


def test_a_deleted_note_is_erased_too_and_one_of_the_same_name_stays(access, secret):
    delete_note(access, secret.id)
    again = write(access, f"That {MARK}", "Another one.", topic="attic")
    erase(access, secret.id)
    assert_whole(access)
    assert Memory.objects.filter(id=again.id, is_active=True).exists()
    assert "Another one." not in str(places_with("moved"))


def test_a_fact_goes_with_the_document_it_came_from(access):
    memory = remember(access, f"The {MARK} is in the attic.")
    kept = remember(access, "The attic is dry.")
    done = erase(access, memory.id)
    assert done.documents == 1
    assert places_with(MARK) == set()
    assert list(Document.objects.values_list("id", flat=True)) == [kept.document_id]
    assert_whole(access)


def test_a_document_of_other_memories_stays_and_is_named(access):
    memory, other = remember(access, "The first half."), remember(access, "The second half.")
    with bound(access.space(None)):
        Memory.objects.filter(id=other.id).update(document_id=memory.document_id)
    done = erase(access, memory.id)
    assert done.shared_documents == [str(memory.document_id)]


def test_what_is_elsewhere_or_without_a_reason_is_not_erased(access, secret):
    other = make_access()
    foreign = write(other, "Foreign")
    with pytest.raises(NotFound):
        erase(access, secret.id, foreign.id)
    with pytest.raises(Invalid):
        erase_memories(access, access.space(None), [secret.id], reason=" ")
    assert Memory.objects.filter(is_active=True).count() == 3


def test_the_command_shows_first_and_erases_when_told(access, secret):
    def run(*arguments):
        out = StringIO()
        space = access.space(None).key
        given = ["--space", space, "--memory", str(secret.id), "--as", access.email, "--reason", "Asked", *arguments]
        call_command("history", "erase", *given, stdout=out)
        return out.getvalue()

    assert "Would erase 1 memories" in run()
    assert Memory.objects.filter(id=secret.id).exists()
    assert json.loads(run("--apply", "--json"))["memories"] == 1
    assert not Memory.objects.filter(id=secret.id).exists()
