"""Small builders of test data. Each makes one thing through the services that make it in production.

access = make_access("team")                      # a writer whose key has the space "team" as its active space
memory = remember(access, "The office closes at six.")
"""

import uuid
from datetime import datetime

from accounts.models import Role, User
from accounts.services.users import create_user
from memories.models import Edge, Memory, RelationType
from memories.services.save import save_memory
from spaces.access import AccessContext, access_for_key
from spaces.models import AccessLevel, Language, Space
from spaces.services.provisioning import NewKey, RequestedGrant, create_api_key, create_space


def make_person(name: str = "Ada Lovelace", *, role: str = Role.WRITER) -> User:
    """A person with an address of their own."""
    return create_user(email=f"{uuid.uuid4().hex}@example.org", display_name=name, role=role)


def make_space(key: str | None = None, *, language: str = Language.ENGLISH) -> Space:
    """An empty space; without a `key`, one that no other space has."""
    return create_space(key=key or f"space-{uuid.uuid4().hex[:12]}", language=language)


def make_key(person: User, *spaces: Space, level: AccessLevel = AccessLevel.READ_WRITE) -> NewKey:
    """A key of `person` with `spaces` granted; the first one is its active space. Its `secret` is what is presented."""
    return create_api_key(person, grants=[RequestedGrant(space, level) for space in spaces], label="test")


def make_access(
    *spaces: Space | str,
    person: User | None = None,
    level: AccessLevel = AccessLevel.READ_WRITE,
    language: str = Language.ENGLISH,
) -> AccessContext:
    """The snapshot of a fresh key with `spaces` granted; a space given as text is made, none at all makes one."""
    rows = [space if isinstance(space, Space) else make_space(space, language=language) for space in spaces]
    new = make_key(person or make_person(), *(rows or [make_space(language=language)]), level=level)
    access = access_for_key(new.secret)
    assert access is not None
    return access


def remember(
    access: AccessContext,
    text: str,
    *,
    category: str | None = None,
    source: str | None = None,
    container_tag: str | None = None,
    at: datetime | None = None,
) -> Memory:
    """A saved memory; `at` moves its creation to another time."""
    memory = save_memory(access, content=text, category=category, source=source, container_tag=container_tag).memory
    if at is not None:
        Memory.objects.filter(id=memory.id).update(created_at=at, updated_at=at)
        memory.created_at = memory.updated_at = at
    return memory


def link(
    from_memory: Memory,
    to_memory: Memory,
    relation_type: RelationType = RelationType.EXTENDS,
    *,
    note: str | None = None,
) -> Edge:
    """An edge: `from_memory` acts on `to_memory`."""
    return Edge.objects.create(
        space_id=from_memory.space_id,
        from_memory=from_memory,
        to_memory=to_memory,
        relation_type=relation_type,
        note=note,
    )
