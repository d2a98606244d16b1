"""Undo: what commits, a person, a key or a stretch of time changed is taken back, in one commit, conflicts named."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.errors import AccessDenied, Conflict, Invalid, NotFound
from history.queries import log
from memories.models import Edge, Memory
from memories.notes import list_notes, read_note
from memories.services.forget import forget_by_id
from memories.services.links import link_notes
from memories.services.notes import delete_note, update_note
from memories.services.undo import plan_undo, undo
from memories.services.verify import check_rows
from memories.tests.factories import make_access, make_person, make_space, remember
from memories.tests.notes import write
from spaces.models import AccessLevel

pytestmark = pytest.mark.django_db


@pytest.fixture
def space():
    return make_space()


@pytest.fixture
def access(space):
    return make_access(space)


@pytest.fixture
def agent(space):
    return make_access(space, person=make_person("Agent"))


def test_everything_somebody_did_is_taken_back_in_one_commit(access, agent):
    note = write(access, "Hours", "Six.", tags=["a"])
    fact = remember(access, "The alarm code is 4711.")
    gone = write(access, "Gone", topic="other")
    update_note(agent, note.id, title="Times", text="Seven.", topic="elsewhere", tags=["b"], status="outdated")
    forget_by_id(agent, fact.id)
    delete_note(agent, gone.id)
    made = remember(agent, "Nonsense.")
    write(agent, "Spam", topic="spam")
    plan = plan_undo(access, project=None, person=agent.email)
    assert len(plan.memories) == 5
    assert plan.conflicts == []
    assert plan.commit is None
    assert read_note(access, note.id).text == "Seven."
    before = len(log(access.space(None).id))
    done = undo(access, project=None, person=agent.email, reason="wrong")
    assert len(log(access.space(None).id)) == before + 1
    assert log(access.space(None).id)[0].oid == done.commit
    assert log(access.space(None).id)[0].author_email == access.email
    back = read_note(access, note.id)
    assert (back.title, back.text, back.topic, back.tags, back.status, back.version) == (
        "Hours", "Six.", "office", ("a",), "current", 3,
    )  # fmt: skip
    assert Memory.objects.get(id=fact.id).is_active
    assert not Memory.objects.get(id=made.id).is_active
    assert {found.title for found in list_notes(access, project=None).items} == {"Hours", "Gone"}
    assert check_rows(access.space(None)).is_well


def test_the_diff_leads_back(access, agent):
    note = write(access, "Hours", "Six.")
    update_note(agent, note.id, text="Seven.")
    (memory,) = plan_undo(access, project=None, person=agent.email).memories
    assert "-Seven." in memory.diff.text
    assert "+Six." in memory.diff.text


def test_what_others_changed_since_or_in_between_stays_and_is_named(access, agent):
    since, between = write(access, "Since", "1"), write(access, "Between", "1")
    update_note(agent, since.id, text="2")
    update_note(access, since.id, text="3")
    update_note(agent, between.id, text="2")
    update_note(access, between.id, text="3")
    update_note(agent, between.id, text="4")
    other = write(agent, "Other")
    done = undo(access, project=None, person=agent.email)
    assert {conflict.id for conflict in done.conflicts} == {since.id, between.id}
    assert any(access.display_name in conflict.reason for conflict in done.conflicts)
    assert [memory.id for memory in done.memories] == [other.id]
    assert (read_note(access, since.id).text, read_note(access, between.id).text) == ("3", "4")


def test_an_undo_can_be_undone(access):
    note = write(access, "Hours", "Six.")
    update_note(access, note.id, text="Seven.")
    first = undo(access, project=None, commits=[log(access.space(None).id)[0].oid])
    assert read_note(access, note.id).text == "Six."
    assert first.commit is not None
    undo(access, project=None, commits=[first.commit])
    assert read_note(access, note.id).text == "Seven."


def test_links_and_what_they_outdated_go_back(access, agent):
    new, old = write(access, "New"), write(access, "Old")
    link_notes(agent, new.id, old.id, "supersedes")
    undo(access, project=None, person=agent.email)
    assert not Edge.objects.exists()
    assert read_note(access, old.id).status == "current"
    assert check_rows(access.space(None)).is_well


def test_by_time_and_by_key(access, agent):
    write(access, "Before")
    moment = timezone.now()
    write(agent, "After")
    assert len(plan_undo(access, project=None, since=moment).memories) == 1
    assert len(plan_undo(access, project=None, key_label="test").memories) == 2
    assert len(plan_undo(access, project=None, until=moment).memories) == 1
    with pytest.raises(NotFound):
        plan_undo(access, project=None, since=timezone.now() + timedelta(days=1))


def test_a_fact_that_was_saved_again_keeps_the_undo_from_doubling_it(access, agent):
    fact = remember(access, "The alarm code is 4711.")
    forget_by_id(agent, fact.id)
    remember(access, "The alarm code is 4711.")
    with pytest.raises(Conflict):
        undo(access, project=None, person=agent.email)
    assert Memory.objects.filter(is_active=True).count() == 1


def test_nothing_chosen_and_no_right_to_write_are_refused(access, space):
    write(access, "Hours")
    with pytest.raises(Invalid):
        undo(access, project=None)
    reader = make_access(space, level=AccessLevel.READ)
    with pytest.raises(AccessDenied):
        undo(reader, project=None, person=access.email)
    with pytest.raises(NotFound):
        undo(make_access(), project=space.key, person=access.email)
