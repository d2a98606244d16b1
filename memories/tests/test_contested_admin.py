"""Contested pairs and decisions in the admin."""

import pytest
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.models import Role
from accounts.tests.admin import staff, superuser
from memories.models import Edge, Memory, RelationType, Resolution
from memories.services.forget import forget_by_id
from memories.tests.factories import link, make_access, make_person, make_space, remember

pytestmark = pytest.mark.django_db
PAIRS = reverse("admin:memories_contestedpair_changelist")
RESOLUTIONS = reverse("admin:memories_resolution_changelist")
MEMORIES = reverse("admin:memories_memory_changelist")


def contested(space=None) -> Edge:
    access = make_access(space or make_space(), person=make_person("Ada"))
    return link(remember(access, "Seven."), remember(access, "Six."), RelationType.UPDATES)


def act(client, page, action, row, reason=""):
    data = {"action": action, "_selected_action": [str(row.pk)], "reason": reason}
    return client.post(page, data, follow=True).content.decode()


def active(edge) -> list[bool]:
    return [Memory.objects.get(id=identifier).is_active for identifier in (edge.from_memory_id, edge.to_memory_id)]


@pytest.mark.parametrize(
    ("action", "left"),
    [
        ("keep_both", [True, True]),
        ("supersede", [True, False]),
        ("forget_updating", [False, True]),
        ("forget_contested", [True, False]),
    ],
)
def test_a_pair_is_decided_with_a_reason_and_taken_back(action, left):
    client, edge = superuser(), contested()
    assert "Six. (Ada)" in client.get(PAIRS).content.decode()
    assert "1 pair was decided" in act(client, PAIRS, action, edge, "The sign says so.")
    assert active(edge) == left
    resolution = Resolution.objects.get()
    assert (resolution.reason, resolution.resolved_via) == ("The sign says so.", "admin")
    assert resolution.resolved_by.email == "admin@example.org"
    assert "Six. (Ada)" not in client.get(PAIRS).content.decode()
    assert "1 decision was taken back" in act(client, RESOLUTIONS, "reopen", resolution, "Wrong sign.")
    assert active(edge) == [True, True]
    assert Resolution.objects.get().withdrawn_reason == "Wrong sign."


def test_without_a_reason_nothing_is_decided():
    client, edge = superuser(), contested()
    assert "eason must not be empty" in act(client, PAIRS, "supersede", edge)
    assert active(edge) == [True, True]


def test_only_what_is_contested_is_listed():
    client, edge = superuser(), contested()
    access = make_access()
    link(remember(access, "More."), remember(access, "Some."), RelationType.EXTENDS)
    assert list(client.get(PAIRS).context["cl"].result_list) == [edge]


def test_a_manager_decides_in_managed_spaces_only_and_a_reader_not_at_all():
    space = make_space("managed")
    own, other = contested(space), contested()
    client, user = staff()
    assign_perm("manage_space", user, space)
    act(client, PAIRS, "supersede", other, "Not mine.")
    assert active(other) == [True, True]
    user.role = Role.READER
    user.save()
    assert "but not write to it" in act(client, PAIRS, "supersede", own, "As a reader.")
    assert active(own) == [True, True]
    user.role = Role.WRITER
    user.save()
    act(client, PAIRS, "supersede", own, "As a writer.")
    assert active(own) == [True, False]


def test_a_forget_is_attributed_and_restored():
    client, access = superuser(), make_access()
    memory = remember(access, "Kept.")
    act(client, MEMORIES, "forget", memory, "A mistake.")
    memory.refresh_from_db()
    assert (memory.deactivated_by.email, memory.deactivation_reason) == ("admin@example.org", "A mistake.")
    page = client.get(reverse("admin:memories_memory_change", args=[memory.pk])).content.decode()
    assert "A mistake." in page
    assert "1 memory was restored" in act(client, MEMORIES, "restore", memory)
    memory.refresh_from_db()
    assert memory.is_active


def test_a_restore_that_cannot_be_is_refused_in_words():
    client, access = superuser(), make_access()
    memory = remember(access, "Twice.")
    forget_by_id(access, memory.id)
    remember(access, "Twice.")
    assert "says the same already" in act(client, MEMORIES, "restore", memory)
