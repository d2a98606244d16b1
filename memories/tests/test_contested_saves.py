"""From a save that contradicts a colleague to the decision about it."""

import pytest

from memories.contested import list_contested
from memories.models import Memory
from memories.queries import get_memory
from memories.services.contested import resolve_contested
from memories.services.save import save_memory
from memories.tests.factories import make_access, make_person, make_space
from tests.providers.fixtures import chat_server, embedding_server, remote_embeddings, work_here
from tests.providers.server import fact

__all__ = ["chat_server", "embedding_server", "remote_embeddings", "work_here"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("work_here", "remote_embeddings")]


def updating(note: str):
    """An extractor that finds the text to update every memory it is shown."""

    def facts(content, memories):
        return [fact(content, *((memory["id"], "Updates", note) for memory in memories))]

    return facts


def test_a_colleagues_memory_that_a_save_contradicts_is_listed_with_why_until_it_is_decided(chat_server):
    space = make_space()
    ada = make_access(space, person=make_person("Ada"))
    bob = make_access(space, person=make_person("Bob"))
    (old,) = save_memory(ada, content="The office closes at six.").memories
    chat_server.facts = updating("Later hours since May.")
    saved = save_memory(bob, content="The office closes at seven.")
    (new,) = saved.memories
    assert saved.outcome.contested == (old.id,)
    (pair,) = list_contested(ada).items
    assert (pair.edge.from_memory_id, pair.edge.to_memory_id, pair.edge.note) == (
        new.id,
        old.id,
        "Later hours since May.",
    )
    resolve_contested(ada, pair.edge.id, decision="supersede", reason="Bob is right.")
    assert list_contested(ada).items == []
    superseded = get_memory(bob, old.id)
    assert (superseded.superseded_by_id, superseded.deactivated_by.display_name) == (new.id, "Ada")


def test_ones_own_memory_is_superseded_by_whom_and_nothing_is_contested(chat_server):
    access = make_access()
    (old,) = save_memory(access, content="The office closes at six.").memories
    chat_server.facts = updating("Later hours.")
    save_memory(access, content="The office closes at seven.")
    assert list_contested(access).items == []
    superseded = Memory.objects.get(id=old.id)
    assert not superseded.is_active
    assert superseded.deactivated_by_id == access.user_id
