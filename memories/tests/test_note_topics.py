"""Topics as a whole: renamed, and deleted with all their notes, each in one commit."""

import pytest

from core.errors import AccessDenied, NotFound
from history.queries import log
from memories.notes import list_notes, list_topics
from memories.search.service import search
from memories.services.note_topics import delete_topic, rename_topic
from memories.services.notes import restore_note
from memories.services.verify import check_rows
from memories.tests.factories import make_access, make_space
from memories.tests.notes import write
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db


@pytest.fixture
def access():
    return make_access()


def test_renamed_a_topic_keeps_its_path(access):
    write(access, "Hours", topic="front-desk/daily")
    rename_topic(access, project=None, topic="front-desk", name="Reception")
    assert [(topic.path, topic.name) for topic in list_topics(access, project=None)] == [
        ("front-desk", "Reception"), ("front-desk/daily", "Daily"),
    ]  # fmt: skip
    assert check_rows(access.space(None)).is_well
    before = len(log(access.space(None).id))
    rename_topic(access, project=None, topic="front-desk", name="Reception")
    assert len(log(access.space(None).id)) == before


def test_deleted_with_its_notes_each_of_which_can_come_back(access):
    note = write(access, "Hours", topic="a")
    write(access, "Below", topic="a/b")
    write(access, "Beside", topic="ab")
    before = len(log(access.space(None).id))
    assert delete_topic(access, project=None, topic="a") == 2
    assert len(log(access.space(None).id)) == before + 1
    assert [found.title for found in list_notes(access, project=None).items] == ["Beside"]
    assert check_rows(access.space(None)).is_well
    assert restore_note(access, note.id).note.topic == "a"


def test_others_cannot(access):
    space = make_space()
    write(make_access(space), "Hours", topic="a")
    reader = make_access(space, level=AccessLevel.READ)
    with pytest.raises(AccessDenied):
        delete_topic(reader, project=None, topic="a")
    with pytest.raises(AccessDenied):
        rename_topic(reader, project=None, topic="a", name="B")
    with pytest.raises(NotFound):
        delete_topic(access, project=space.key, topic="a")
    with pytest.raises(NotFound):
        delete_topic(access, project=None, topic="a")


@pytest.mark.parametrize("by", ["query", "keyword"])
@pytest.mark.parametrize("said", ["giraffe enclosure", "waterproof", "zoo-plan"])
def test_search_finds_a_note_by_its_title_its_tags_and_its_topic(access, by, said):
    note = write(access, "Giraffe enclosure", "Five metres high.", topic="zoo-plan", tags=["waterproof"])
    for number in range(3):
        write(access, f"Other {number}", "Nothing of the kind.")
    assert search(access, **{by: said}).matches[0].memory.id == note.id
