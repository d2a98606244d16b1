import pytest
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.models import Role
from accounts.tests.admin import staff, superuser
from memories.admin import MemoryAdmin
from memories.tests.factories import link, make_access, make_space, remember

pytestmark = pytest.mark.django_db
LIST = "admin:memories_memory_changelist"


def found(client, **query):
    return {memory.text for memory in client.get(reverse(LIST), query).context["cl"].result_list}


def test_a_memory_is_found_by_its_id_and_by_a_part_of_its_text():
    client, access = superuser(), make_access()
    memory = remember(access, "The kettle is blue.")
    remember(access, "The lamp is red.")
    assert found(client, q=str(memory.pk)) == {"The kettle is blue."}
    assert found(client, q="KETTLE") == {"The kettle is blue."}
    assert found(client, q="100%_") == set()


def test_without_a_space_only_the_newest_are_searched_and_with_one_all(monkeypatch):
    monkeypatch.setattr(MemoryAdmin, "searched_without_space", 2)
    client, space = superuser(), make_space()
    access = make_access(space)
    for number in range(3):
        remember(access, f"Note {number}.")
    assert found(client, q="note") == {"Note 1.", "Note 2."}
    assert found(client, q="note", space__id__exact=str(space.pk)) == {"Note 0.", "Note 1.", "Note 2."}


def test_a_manager_finds_nothing_of_another_space_even_by_its_id():
    client, user = staff()
    assign_perm("manage_space", user, make_space("managed"))
    foreign = remember(make_access("foreign"), "Foreign memory.")
    for query in ({"q": str(foreign.pk)}, {"q": "Foreign"}, {"space__id__exact": str(foreign.space_id)}):
        assert found(client, **query) == set()


def test_whoever_may_not_write_is_refused_in_words_and_forgets_nothing():
    client, user = staff(role=Role.READER)
    space = make_space("managed")
    assign_perm("manage_space", user, space)
    memory = remember(make_access(space), "Kept.")
    page = client.post(reverse(LIST), {"action": "forget", "_selected_action": [str(memory.pk)]}, follow=True)
    assert "but not write to it" in page.content.decode()
    memory.refresh_from_db()
    assert memory.is_active


def test_an_edge_is_found_by_the_id_of_its_memory():
    client, access = superuser(), make_access()
    one, two, three = (remember(access, text) for text in ("One.", "Two.", "Three."))
    edge, _ = link(one, two), link(two, three)
    page = client.get(reverse("admin:memories_edge_changelist"), {"q": str(one.pk)})
    assert list(page.context["cl"].result_list) == [edge]
