"""Topics: found by their path, made by being written to, renamed by people.

topic = ensure_topic(space, parse_topic_path("kunde-mueller/vorgang-2026-08"))
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import Invalid, NotFound
from core.text import excerpt
from spaces.access import SpaceAccess
from spaces.models import Topic
from spaces.slugs import TopicLevel, parse_optional_path, path_of


@dataclass(frozen=True)
class EnsuredTopic:
    """A topic, and those levels of its path that did not exist before."""

    topic: Topic
    made: Sequence[Topic]


def ensure_topic(space: SpaceAccess, levels: Sequence[TopicLevel]) -> EnsuredTopic:
    """The topic at a path, made where it is missing. Within a binding of the space, whose history is locked."""
    paths = [path_of(levels[: number + 1]) for number in range(len(levels))]
    known = {topic.path: topic for topic in Topic.objects.in_space(space).filter(path__in=paths)}
    parent: Topic | None = None
    made = []
    for level, path in zip(levels, paths, strict=True):
        topic = known.get(path)
        if topic is None:
            topic = Topic(space_id=space.id, parent=parent, slug=level.slug, name=level.name, path=path)
            topic.save(force_insert=True)
            made.append(topic)
        parent = topic
    if parent is None:
        raise Invalid("topic must name at least one level.")
    return EnsuredTopic(parent, made)


def find_topic(space: SpaceAccess, path: object) -> Topic:
    """The topic at a path as a person writes it. Within a binding of the space.

    Raises `NotFound` when there is none, `Invalid` for a path of slashes alone.
    """
    levels = parse_optional_path(path)
    if not levels:
        raise Invalid("topic must name at least one level; leave it out for all topics.")
    topic: Topic | None = Topic.objects.in_space(space).filter(path=path_of(levels)).first()
    if topic is None:
        shown = excerpt(path_of(levels), 80)
        raise NotFound(
            f"There is no topic “{shown}” in project “{space.key}”; memory_list_topics shows those there are."
        )
    return topic
