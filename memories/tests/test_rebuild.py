"""A space is rebuilt from a clone of its history alone: memories, links, topics, versions and what was forgotten."""

import pytest

from core.errors import Conflict, Invalid
from history.checks import check_history
from history.mirror import export
from history.queries import head, log
from history.tests.git import run
from memories.models import Edge, Memory, Version
from memories.notes import list_topics, note_history, read_note
from memories.search.service import search
from memories.services.forget import forget_by_id
from memories.services.links import link_notes
from memories.services.notes import delete_note, restore_note, update_note
from memories.services.rebuild import rebuild_space
from memories.services.restore import restore_memory
from memories.services.verify import check_rows
from memories.tests.factories import make_access, make_person, make_space, remember
from memories.tests.notes import write
from spaces.models import Space

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def access():
    return make_access()


def told(access):
    """What a space says, without what differs between two spaces."""
    notes = [
        read_note(access, identifier)
        for identifier in Memory.objects.in_any_space(access).notes().values_list("id", flat=True)
    ]
    return (
        sorted(
            (
                n.id,
                n.title,
                n.topic,
                n.topic_name,
                n.text,
                n.tags,
                n.sources,
                n.status,
                n.follow_up,
                n.version,
                n.created_at,
                n.created_by,
                n.updated_at,
                n.updated_by,
            )
            for n in notes
        ),
        sorted(
            Edge.objects.in_any_space(access).values_list(
                "from_memory", "to_memory", "relation_type", "note", "created_at", "created_by"
            )
        ),
        sorted(
            Version.objects.in_any_space(access).values_list(
                "memory", "number", "title", "text", "path", "commit", "created_by"
            )
        ),
        sorted(
            Memory.objects.in_any_space(access).values_list(
                "id", "text", "category", "source", "is_active", "version", "created_by", "updated_by"
            )
        ),
    )


def test_a_clone_alone_brings_everything_back(access, tmp_path):
    note = write(
        access,
        "Wärmepumpe",
        "12 kW\n",
        topic="Kunde Müller/2026",
        tags=["bau"],
        follow_up="open",
        sources=[{"type": "mail", "ref": "1"}],
    )
    other = write(access, "Other", topic="office")
    fact = remember(access, "The alarm code is 4711.", category="office", source="chat")
    forgotten = remember(access, "The kettle is broken.")
    link_notes(access, note.id, other.id, "causes", note="why")
    link_notes(access, note.id, fact.id, "mentions")
    update_note(access, other.id, title="Another", text="Changed.")
    forget_by_id(access, forgotten.id)
    gone = write(access, "Gone", "Was here.")
    delete_note(access, gone.id)
    export(access.space(None).id, tmp_path / "team.git")
    before, standing, number = told(access), head(access.space(None).id), len(log(access.space(None).id))
    Memory.objects.all().delete()
    Space.objects.filter(id=access.space(None).id).delete()

    new = make_access(make_space(), person=make_person("Somebody else"))
    made = rebuild_space(new, new.space(None), tmp_path / "team.git")
    assert (made.commits, made.memories, made.forgotten) == (number, 3, 2)
    assert head(new.space(None).id) == standing
    assert told(new) == before
    assert check_rows(new.space(None)).is_well
    assert not check_history(new.space(None).id).problems
    assert [topic.name for topic in list_topics(new, project=None)][:2] == ["Kunde Müller", "2026"]
    assert [match.memory.id for match in search(new, keyword="alarm").matches] == [fact.id]
    assert restore_note(new, gone.id).note.text == "Was here."
    assert restore_memory(new, forgotten.id).memory.is_active
    assert [version.number for version in note_history(new, other.id)] == [2, 1]
    assert update_note(new, other.id, text="On it goes.").note.version == 3
    assert check_rows(new.space(None)).is_well


def test_only_an_empty_space_is_rebuilt_and_only_from_a_history(access, tmp_path):
    write(access, "Hours")
    export(access.space(None).id, tmp_path / "team.git")
    with pytest.raises(Conflict, match="memories"):
        rebuild_space(access, access.space(None), tmp_path / "team.git")
    empty = make_access()
    with pytest.raises(Invalid, match="no folder"):
        rebuild_space(empty, empty.space(None), tmp_path / "nowhere")
    (tmp_path / "plain").mkdir()
    with pytest.raises(Invalid, match="no git repository"):
        rebuild_space(empty, empty.space(None), tmp_path / "plain")
    run(tmp_path, "clone", "team.git", "merged")
    run(tmp_path / "merged", "checkout", "-b", "side")
    run(tmp_path / "merged", "commit", "--allow-empty", "-m", "side")
    run(tmp_path / "merged", "checkout", "main")
    run(tmp_path / "merged", "merge", "--no-ff", "side", "-m", "both")
    with pytest.raises(Invalid, match="merge"):
        rebuild_space(empty, empty.space(None), tmp_path / "merged")
    with pytest.raises(Conflict, match="in another space of this server already"):
        rebuild_space(empty, empty.space(None), tmp_path / "team.git")
    assert not Memory.objects.in_any_space(empty).exists()
    assert head(empty.space(None).id) is None
