"""Notes by topic and title: made, updated, named by their slug."""

import pytest

from core.errors import AccessDenied, Invalid, NotFound
from memories.models import Memory, Version
from memories.notes import list_notes, note_history, read_note
from memories.services.notes import upsert_note
from memories.tests.factories import make_access, make_person
from memories.tests.notes import write
from spaces.models import AccessLevel, Topic

pytestmark = pytest.mark.django_db


@pytest.fixture
def access():
    return make_access()


def test_a_new_note_has_its_slug_tags_status_and_first_version(access):
    written = upsert_note(
        access,
        project=None,
        topic="Heizung/Wärmepumpe Größe",
        title="Wärmepumpe: Größe & Preis",
        text="12 kW",
        tags=["Bau", " bau ", "", "Angebot"],
        follow_up="offen",
        sources=[{"type": "mail", "ref": "<1@example.org>"}],
    )
    note = written.note
    assert written.created
    assert written.embedded
    assert note.slug == "warmepumpe-grosse-preis"
    assert note.topic == "heizung/warmepumpe-grosse"
    assert note.tags == ("bau", "angebot")
    assert note.status == "current"
    assert note.follow_up == "open"
    assert [str(source) for source in note.sources] == ["mail:<1@example.org>"]
    assert note.version == 1
    (version,) = note_history(access, note.id)
    assert len(version.commit) == 40
    assert written.new_topics == ("heizung", "heizung/warmepumpe-grosse")
    assert Topic.objects.get(path=note.topic).name == "Wärmepumpe Größe"


def test_the_same_title_updates_the_note_and_leaves_what_is_not_said(access):
    first = write(access, "Hours", "Six.", tags=["a"], follow_up="waiting", status="veraltet")
    second = write(access, "hours", "Seven.")
    assert second.id == first.id
    assert second.text == "Seven."
    assert second.tags == ("a",)
    assert second.follow_up == "waiting"
    assert second.status == "outdated"
    assert second.version == 2
    assert [version.number for version in note_history(access, second.id)] == [2, 1]


def test_an_identical_write_is_no_version(access):
    first = write(access, "Hours", "Six.", tags=["a"])
    again = upsert_note(access, project=None, topic="office", title="Hours", text="Six.", tags=["a"])
    assert not again.changed
    assert again.note.version == 1
    assert Version.objects.filter(memory_id=first.id).count() == 1


def test_a_title_that_only_gives_the_same_slug_is_told(access):
    write(access, "C++", "A language.")
    written = upsert_note(access, project=None, topic="office", title="C#", text="Another language.")
    assert not written.created
    assert written.former_title == "C++"


@pytest.mark.parametrize("topic", [None, "", "  ", "/", "///"])
def test_without_a_topic_a_note_goes_to_the_inbox(access, topic):
    assert write(access, "Hours", topic=topic).topic == "allgemein"


@pytest.mark.parametrize(
    ("title", "problem"),
    [
        ("🎉🎉", "letters or digits"),
        ("../", "letters or digits"),
        ("", "must not be empty"),
        ("a" * 256, "at most 255"),
        ("safe \u202egnp.exe", "turn the direction"),
        ("\ud800", "surrogate"),
    ],
)
def test_a_title_that_cannot_name_a_note_is_refused(access, title, problem):
    with pytest.raises(Invalid, match=problem):
        write(access, title, topic="new-topic")
    assert not Topic.objects.exists()


@pytest.mark.parametrize(
    ("topic", "problem"),
    [
        ("/".join(["deep"] * 50), "at most 20"),
        ("memories/a", "reserved"),
        ("../secret", "without letters"),
        ("a" * 65, "at most 64"),
        ("🎉/a", "without letters"),
    ],
)
def test_a_topic_that_cannot_be_is_refused(access, topic, problem):
    with pytest.raises(Invalid, match=problem):
        write(access, "Hours", topic=topic)


def test_a_long_title_is_cut_without_a_hyphen_at_the_end(access):
    note = write(access, "ab " * 80)
    assert len(note.slug) <= 128
    assert not note.slug.endswith("-")


def test_a_name_typed_as_a_slug_is_shown_in_words(access):
    write(access, "Hours", topic="kunde-mueller/GEB")
    assert list(Topic.objects.order_by("path").values_list("name", flat=True)) == ["Kunde Mueller", "GEB"]


def test_a_text_of_a_megabyte_of_different_words_is_stored_and_found(access):
    text = " ".join(f"word{number}" for number in range(110_000))[:999_990]
    note = write(access, "Long", text)
    assert read_note(access, note.id).text == text
    assert Memory.objects.get(id=note.id).term_total > 100_000 or Memory.objects.get(id=note.id).term_total > 90_000


def test_line_ends_are_plain(access):
    assert write(access, "Hours", "a\r\nb").text == "a\nb"


def test_readers_and_outsiders_cannot_write(access):
    reader = make_access(person=make_person(role="Reader"))
    with pytest.raises(AccessDenied):
        write(reader, "Hours")
    with pytest.raises(NotFound):
        upsert_note(access, project="elsewhere", topic=None, title="Hours", text="x")
    stranger = make_access(level=AccessLevel.READ_WRITE)
    note = write(access, "Hours")
    with pytest.raises(NotFound):
        read_note(stranger, note.id)
    with pytest.raises(NotFound):
        list_notes(stranger, project=access.space(None).key)
