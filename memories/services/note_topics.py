"""What people do with a topic as a whole: another name, or gone with all its notes. Its path never changes."""

from core.errors import Invalid
from memories.models import Memory
from memories.services.forget import deactivate
from memories.services.record import recording
from spaces.access import AccessContext
from spaces.isolation import bound
from spaces.models import MAXIMUM_TOPIC_NAME, AccessLevel, Topic
from spaces.services.topics import find_topic
from spaces.slugs import clean_name

# Notes deleted in one commit; a larger topic is emptied in several steps.
MAXIMUM_DELETED = 2_000


def rename_topic(access: AccessContext, *, project: str | None, topic: str, name: str) -> Topic:
    """Give a topic another name; path and notes stay. Raises `NotFound`, `AccessDenied` and `Invalid`."""
    space = access.space(project, AccessLevel.READ_WRITE)
    name = clean_name(name, "name", maximum=MAXIMUM_TOPIC_NAME)
    with recording(access, space.id, "Rename a topic") as record:
        found = find_topic(space, topic)
        record.message = f"Rename topic {found.path} to “{name}”"
        if found.name != name:
            found.name = name
            found.save(update_fields=["name"])
            record.topics(found.id)
    return found


def delete_topic(access: AccessContext, *, project: str | None, topic: str, reason: str | None = None) -> int:
    """Delete all notes of a topic and of everything below it, in one commit; returns how many.

    Each can be restored, so the topic itself stays, and is empty. Raises `NotFound`, `AccessDenied` and `Invalid`.
    """
    space = access.space(project, AccessLevel.READ_WRITE)
    with bound(space):
        path = find_topic(space, topic).path
    with recording(access, space.id, f"Delete topic {path}"):
        below = Topic.objects.in_space(space).at_or_below(path)
        notes = Memory.objects.in_space(space).notes().filter(topic__in=below)
        ids = list(notes.values_list("id", flat=True)[: MAXIMUM_DELETED + 1])
        if len(ids) > MAXIMUM_DELETED:
            raise Invalid(f"The topic has more than {MAXIMUM_DELETED:,} notes; delete the topics below it first.")
        return len(deactivate(access, space, ids, reason=reason))
