"""Every write of memories is one commit in the transaction of its rows, with the person, the key and the surface."""

import threading

import pytest
from django.db import connection

from core.errors import Invalid
from documents.models import Document
from history.checks import check_history
from history.models import Change, Commit, Object
from history.queries import file_at, list_files, log
from memories.models import Memory, MemoryTag, MemoryTerm, PendingEmbedding, SourceRef, Version
from memories.note_files import parse
from memories.services.entries import Desk
from memories.services.forget import forget_by_content, forget_by_id
from memories.services.links import link_notes
from memories.services.notes import delete_note, restore_note, update_note, upsert_note
from memories.services.record import recording
from memories.services.restore import restore_memory
from memories.services.verify import check_rows
from memories.tests.factories import make_access, remember
from memories.tests.notes import write
from spaces.models import Topic


def files(access):
    return sorted(path for path in list_files(access.space(None).id) if not path.endswith(".topic.yaml"))


def row_counts():
    ours = (Memory, Version, MemoryTag, SourceRef, Topic, PendingEmbedding, MemoryTerm, Document)
    return [model.objects.count() for model in (*ours, Object, Commit, Change)]


@pytest.fixture
def access():
    return make_access()


@pytest.mark.django_db
def test_a_fact_is_a_file_and_forgotten_it_is_none(access):
    fact = remember(access, "The office closes at six.", category="office")
    digits = fact.id.hex
    path = f"memories/{digits[0]}/{digits[1]}/{digits[2]}/{fact.id}.md"
    assert files(access) == [path]
    entry = parse(file_at(access.space(None).id, None, path), path)
    assert (entry.text, entry.category, entry.id) == ("The office closes at six.", "office", fact.id)
    forget_by_id(access, fact.id)
    assert files(access) == []
    restore_memory(access, fact.id)
    assert files(access) == [path]
    assert list(Version.objects.order_by("number").values_list("number", "path")) == [(1, path), (2, ""), (3, path)]
    newest = log(access.space(None).id)[0]
    assert newest.author_email == access.email
    assert newest.trailers == {"Key": "test", "Surface": "mcp"}


@pytest.mark.django_db
def test_one_operation_is_one_commit(access):
    for content in ("Same.", "Other."):
        remember(access, content, category="a")
    Memory.objects.filter(text="Other.").update(text="Same.")
    before = len(log(access.space(None).id))
    forget_by_content(access, "Same.")
    assert len(log(access.space(None).id)) == before + 1
    new, old = write(access, "New"), write(access, "Old")
    before = len(log(access.space(None).id))
    link_notes(access, new.id, old.id, "supersedes")
    assert len(log(access.space(None).id)) == before + 1
    assert Version.objects.filter(memory_id=old.id).latest("number").commit == log(access.space(None).id)[0].oid


@pytest.mark.django_db
def test_the_files_tell_all_there_is_to_know_of_a_note(access):
    note = write(
        access, "Wärmepumpe: Größe", "Text\n", topic="Kunde Müller/2026", tags=["ärger"], follow_up="open",
        sources=[{"type": "mail", "ref": "<a:b>"}],
    )  # fmt: skip
    other = write(access, "Other")
    link_notes(access, note.id, other.id, "causes", note="weil: darum")
    path = "kunde-muller/2026/warmepumpe-grosse.md"
    entry = parse(file_at(access.space(None).id, None, path), path)
    assert (entry.title, entry.text, entry.topic, entry.slug) == (
        "Wärmepumpe: Größe", "Text\n", "kunde-muller/2026", "warmepumpe-grosse",
    )  # fmt: skip
    assert (entry.tags, entry.sources, entry.follow_up, entry.status) == (["ärger"], ["mail:<a:b>"], "open", "current")
    assert [(link.relation, link.to, link.note) for link in entry.links] == [("causes", other.id, "weil: darum")]
    assert entry.created_by == f"{access.display_name} <{access.email}>"
    assert file_at(access.space(None).id, None, "kunde-muller/.topic.yaml").decode() == "name: Kunde Müller\n"


@pytest.mark.django_db
def test_renamed_moved_deleted_and_restored_the_file_goes_along(access):
    note = write(access, "Hours")
    update_note(access, note.id, title="Opening hours", topic="desk")
    assert files(access) == ["desk/opening-hours.md"]
    delete_note(access, note.id)
    assert files(access) == []
    write(access, "Opening hours", topic="desk")
    with pytest.raises(Exception, match="already exists"):
        restore_note(access, note.id)
    assert files(access) == ["desk/opening-hours.md"]
    assert check_rows(access.space(None)).is_well


@pytest.mark.django_db
def test_the_former_owner_of_a_source_says_so_in_its_file(access):
    write(access, "First", sources=[{"type": "mail", "ref": "1"}])
    write(access, "Second", sources=[{"type": "mail", "ref": "1"}])
    assert b"mail" not in file_at(access.space(None).id, None, "office/first.md")
    assert check_rows(access.space(None)).is_well


@pytest.mark.django_db(transaction=True)
def test_a_write_that_fails_leaves_neither_rows_nor_objects(access, monkeypatch):
    write(access, "Before")
    counts = row_counts()

    def refuse(*arguments, **named):
        raise Invalid("no")

    monkeypatch.setattr("memories.services.record.commit", refuse)
    with pytest.raises(Invalid):
        upsert_note(
            access, project=None, topic="new/topic", title="Hours", text="x", tags=["a"],
            sources=[{"type": "mail", "ref": "9"}],
        )  # fmt: skip
    with pytest.raises(Invalid):
        remember(access, "Never stored.")
    assert row_counts() == counts


@pytest.mark.django_db(transaction=True)
def test_rows_that_fail_after_the_commit_take_it_with_them(access, monkeypatch):
    counts = row_counts()

    def fail(*arguments, **named):
        raise RuntimeError("the process is stopped")

    monkeypatch.setattr(Version.objects, "bulk_create", fail)
    with pytest.raises(RuntimeError):
        write(access, "Hours")
    assert row_counts() == counts
    monkeypatch.undo()
    write(access, "Hours")
    assert not check_history(access.space(None).id).problems


@pytest.mark.django_db
def test_what_an_inner_operation_gave_up_is_not_recorded(access):
    note = write(access, "Hours")
    with recording(access, access.space(None).id, "Outer") as record:
        try:
            with recording(access, access.space(None).id, "Inner"):
                Desk(access, access.space(None), record=record).take_out(note.id)
                raise Invalid("no")
        except Invalid:
            pass
    assert files(access) == ["office/hours.md"]
    assert Version.objects.filter(memory_id=note.id).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_first_writes_at_once_are_one_note_with_two_versions(access):
    barrier = threading.Barrier(4)
    failures = []

    def work(number):
        try:
            barrier.wait(10)
            upsert_note(access, project=None, topic="a/b", title="Hours", text=f"Text {number}")
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    memory = Memory.objects.get()
    assert memory.version == 4
    assert sorted(Version.objects.values_list("number", flat=True)) == [1, 2, 3, 4]
    assert check_rows(access.space(None)).is_well


@pytest.mark.django_db(transaction=True)
def test_writers_of_facts_and_notes_at_once_lose_nothing_and_do_not_block_each_other_for_good(access):
    notes = [write(access, f"Note {number}") for number in range(3)]
    failures = []

    def work(number):
        try:
            for turn in range(4):
                remember(access, f"Fact {number} {turn}")
                update_note(access, notes[(number + turn) % 3].id, text=f"Text {number} {turn}")
                forget_by_content(access, f"Fact {number} {turn}")
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    # Three notes made, and three operations in each of sixteen turns.
    assert len(log(access.space(None).id, limit=1000)) == 3 + 48
    assert check_rows(access.space(None)).is_well
    assert not check_history(access.space(None).id).problems
