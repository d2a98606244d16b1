"""Contested pairs: listed until somebody decides, decided once, and taken back."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Role
from core.errors import AccessDenied, AppError, Conflict, Invalid, NotFound
from history.queries import log
from memories.contested import list_contested, list_contested_after
from memories.models import Edge, Memory, RelationType, Resolution
from memories.queries import get_memory
from memories.search.service import search
from memories.services.contested import reopen_contested, resolve_contested
from memories.services.forget import forget_by_id
from memories.services.restore import restore_memory
from memories.services.undo import undo
from memories.tests.factories import link, make_access, make_person, make_space, remember
from spaces.access import AccessContext

pytestmark = pytest.mark.django_db


class Team:
    """Ada's memory, Bob's that says to update it, and both people."""

    def __init__(self) -> None:
        space = make_space()
        self.ada = make_access(space, person=make_person("Ada"))
        self.bob = make_access(space, person=make_person("Bob"))
        self.old = remember(self.ada, "The office closes at six.")
        self.new = remember(self.bob, "The office closes at seven.")
        self.edge = link(self.new, self.old, RelationType.UPDATES, note="Later hours.")
        self.space = space

    def listed(self, **options) -> list[Edge]:
        return [pair.edge for pair in list_contested(self.ada, **options).items]

    def active(self) -> list[bool]:
        return [Memory.objects.get(id=memory.id).is_active for memory in (self.old, self.new)]

    def resolve(self, decision: str, **options) -> Resolution:
        return resolve_contested(self.ada, self.edge.id, decision=decision, reason="Asked at the desk.", **options)


@pytest.fixture
def team() -> Team:
    return Team()


def test_an_update_whose_target_stayed_active_is_listed_with_both_sides(team):
    link(team.new, team.old, RelationType.EXTENDS)
    (pair,) = list_contested(team.ada).items
    assert (pair.edge.from_memory, pair.edge.to_memory, pair.edge.note) == (team.new, team.old, "Later hours.")
    assert pair.resolution is None


@pytest.mark.parametrize("gone", ["old", "new"])
def test_nothing_is_contested_once_one_of_the_two_is_forgotten(team, gone):
    forget_by_id(team.ada, getattr(team, gone).id)
    assert team.listed() == []
    with pytest.raises(Conflict, match="by Ada"):
        team.resolve("keep_both")


def test_keeping_both_changes_neither_and_takes_the_pair_off_the_list(team):
    before = timezone.now() - timedelta(seconds=1)
    resolution = team.resolve("keep_both")
    assert team.active() == [True, True]
    assert team.listed() == []
    assert (resolution.resolved_by_id, resolution.resolved_via) == (team.ada.user_id, "mcp")
    assert resolution.resolved_by_key_id == team.ada.credential.id
    assert resolution.resolved_at > before
    (pair,) = list_contested(team.bob, resolved=True).items
    assert pair.resolution.reason == "Asked at the desk."
    assert pair.resolution.resolved_by.display_name == "Ada"


def test_superseding_puts_the_new_one_in_the_place_of_the_old(team):
    team.resolve("supersede")
    old = get_memory(team.ada, team.old.id)
    assert (old.is_active, old.superseded_by_id, old.deactivation_reason) == (False, team.new.id, "Asked at the desk.")
    assert old.deactivated_by.display_name == "Ada"
    assert [match.memory.id for match in search(team.ada, keyword="office").matches] == [team.new.id]


@pytest.mark.parametrize(("chosen", "active"), [("old", [False, True]), ("new", [True, False])])
def test_either_of_the_two_can_be_forgotten(team, chosen, active):
    team.resolve("forget", memory_id=str(getattr(team, chosen).id))
    assert team.active() == active
    assert get_memory(team.ada, getattr(team, chosen).id).superseded_by_id is None
    assert team.listed() == []


@pytest.mark.parametrize("decision", ["keep_both", "supersede", "forget"])
def test_a_decision_taken_back_leaves_everything_as_it_was_and_is_remembered(team, decision):
    team.resolve(decision, **({"memory_id": team.new.id} if decision == "forget" else {}))
    reopen_contested(team.bob, team.edge.id, reason="Bob knows better.")
    assert team.active() == [True, True]
    assert team.listed() == [team.edge]
    assert team.listed(resolved=True) == []
    resolution = Resolution.objects.get()
    assert (resolution.resolved_by_id, resolution.withdrawn_by_id) == (team.ada.user_id, team.bob.user_id)
    assert (resolution.reason, resolution.withdrawn_reason) == ("Asked at the desk.", "Bob knows better.")
    assert len(search(team.ada, keyword="office").matches) == 2
    team.resolve("keep_both")
    assert Resolution.objects.count() == 2


def test_restoring_the_memory_takes_the_decision_back_as_well(team):
    team.resolve("supersede")
    restore_memory(team.bob, team.old.id)
    assert team.listed() == [team.edge]
    assert Resolution.objects.get().withdrawn_by_id == team.bob.user_id
    with pytest.raises(Conflict, match="Nothing was decided"):
        reopen_contested(team.ada, team.edge.id)


def test_undoing_the_operation_takes_the_decision_back_as_well(team):
    team.resolve("supersede")
    undo(team.bob, project=None, commits=[log(team.space.id)[0].oid])
    assert team.active() == [True, True]
    assert team.listed() == [team.edge]
    assert Resolution.objects.get().withdrawn_by_id == team.bob.user_id


def test_a_memory_that_was_saved_again_cannot_be_brought_back_by_reopening(team):
    team.resolve("supersede")
    twin = remember(team.bob, "The office closes at six.")
    with pytest.raises(Conflict, match=str(twin.id)):
        reopen_contested(team.ada, team.edge.id)
    assert Resolution.objects.get().withdrawn_at is None
    assert team.active() == [False, True]


def test_the_second_to_decide_is_told_who_was_first(team):
    team.resolve("keep_both")
    with pytest.raises(Conflict, match="Ada chose keep_both"):
        resolve_contested(team.bob, team.edge.id, decision="supersede", reason="Mine.")
    assert team.active() == [True, True]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("decisions", [("supersede", "keep_both"), ("supersede", "forget"), ("supersede", "supersede")])
def test_of_two_who_decide_at_once_one_wins_and_the_other_is_told(decisions):
    team = Team()
    start = threading.Barrier(2)
    told: list[str] = []

    def decide(access, decision) -> None:
        start.wait()
        try:
            memory_id = team.new.id if decision == "forget" else None
            resolve_contested(access, team.edge.id, decision=decision, reason="At once.", memory_id=memory_id)
        except Conflict as error:
            told.append(error.message)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=decide, args=(access, decision))
        for access, decision in zip((team.ada, team.bob), decisions, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1
    resolution = Resolution.objects.get()
    expected = {"keep_both": [True, True], "supersede": [False, True], "forget": [True, False]}
    assert team.active() == expected[resolution.decision]


@pytest.mark.parametrize(
    "arguments",
    [
        {"decision": "whatever"},
        {"decision": "keep_both", "reason": " "},
        {"decision": "keep_both", "reason": "x" * 501},
        {"decision": "keep_both", "memory_id": "1b4e28ba-2fa1-41d2-883f-0016d3cca427"},
        {"decision": "forget"},
        {"decision": "forget", "memory_id": "1b4e28ba-2fa1-41d2-883f-0016d3cca427"},
        {"decision": "forget", "memory_id": "x"},
    ],
)
def test_what_cannot_be_meant_is_refused_and_changes_nothing(team, arguments):
    with pytest.raises(Invalid):
        resolve_contested(team.ada, team.edge.id, **{"reason": "Because.", **arguments})
    assert team.listed() == [team.edge]


def test_other_edges_other_spaces_and_readers_decide_nothing(team):
    extends = link(team.new, team.old, RelationType.EXTENDS)
    reader = make_access(team.space, person=make_person(role=Role.READER))
    elsewhere = make_access(team.space, "second")
    attempts: list[tuple[type[AppError], tuple[AccessContext, object, str | None]]] = [
        (NotFound, (team.ada, extends.id, None)),
        (NotFound, (make_access(), team.edge.id, None)),
        (NotFound, (elsewhere, team.edge.id, "second")),
        (AccessDenied, (reader, team.edge.id, None)),
    ]
    for error, (access, pair, tag) in attempts:
        with pytest.raises(error):
            resolve_contested(access, pair, decision="keep_both", reason="No.", container_tag=tag)
        with pytest.raises(error):
            reopen_contested(access, pair, container_tag=tag)
    assert [pair.edge for pair in list_contested(reader).items] == [team.edge]
    assert list_contested(make_access()).items == []


def test_pages_hold_every_pair_once_and_cost_the_same(team, django_assert_num_queries):
    for number in range(4):
        link(
            remember(team.bob, f"The office closes at {number}."),
            remember(team.ada, f"It closes at {number}."),
            RelationType.UPDATES,
        )
    with django_assert_num_queries(2):
        page = list_contested(team.ada, limit=3)
        assert [pair.edge.to_memory.created_by.display_name for pair in page.items] == ["Ada"] * 3
    assert page.total_count == 5
    seen: list[Edge] = []
    cursor = None
    while True:
        found = list_contested_after(team.ada, None, cursor=cursor, limit=2)
        seen += [pair.edge for pair in found.items]
        cursor = found.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 5
