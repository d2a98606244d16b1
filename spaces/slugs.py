"""The short names by which notes, topics and projects stand in addresses and in the history.

slug_of("Wärmepumpe Größe")              # "warmepumpe-grosse"
parse_topic_path("Kunde Müller/2026")    # two levels, each with its slug and its name
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from slugify import slugify

from core.errors import Invalid
from core.text import clean_line, excerpt
from spaces.models import MAXIMUM_TOPIC_DEPTH, MAXIMUM_TOPIC_NAME, MAXIMUM_TOPIC_SLUG

# Names of the first level that mean something else: the folder of facts, and pages of a project.
RESERVED_TOPICS = frozenset({"memories", "new", "edit", "graph", "history"})
_MAXIMUM_TYPED_PATH = 2_000
# They turn the direction of what follows, so that a name can look like another one.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class TopicLevel:
    """One level of a path as it was given: its slug, and the name it gets if it is new."""

    slug: str
    name: str


def slug_of(text: str, *, maximum: int) -> str:
    """Lower-case letters and digits with hyphens between them, cut at `maximum`; empty when nothing is left of it."""
    return slugify(text)[:maximum].strip("-")


def clean_name(value: object, field: str, *, maximum: int) -> str:
    """As `clean_line`, for names that people and agents go by. Raises `Invalid`."""
    name = clean_line(value, field, maximum=maximum)
    if _TURNING.search(name):
        raise Invalid(f"{field} contains characters that turn the direction of writing; leave them out.")
    return name


def parse_topic_path(value: object, field: str = "topic") -> Sequence[TopicLevel]:
    """The levels of a path for writing; blank, or nothing but slashes, is the inbox. Raises `Invalid`."""
    return parse_optional_path(value, field) or parse_optional_path(settings.NOTES_INBOX_TOPIC, "NOTES_INBOX_TOPIC")


def parse_optional_path(value: object, field: str = "topic") -> Sequence[TopicLevel]:
    """The levels of a path, none when it is blank or nothing but slashes. Raises `Invalid`."""
    path = clean_line(value, field, maximum=_MAXIMUM_TYPED_PATH, required=False)
    segments = [segment.strip() for segment in path.split("/") if segment.strip()]
    if len(segments) > MAXIMUM_TOPIC_DEPTH:
        raise Invalid(f"{field} has {len(segments)} levels, at most {MAXIMUM_TOPIC_DEPTH} are allowed.")
    levels = [_level(segment, field) for segment in segments]
    if levels and levels[0].slug in RESERVED_TOPICS:
        names = ", ".join(sorted(RESERVED_TOPICS))
        raise Invalid(f"{field} must not begin with “{levels[0].slug}”; reserved are {names}.")
    return levels


def path_of(levels: Sequence[TopicLevel]) -> str:
    """The slugs of a path, with “/” between them."""
    return "/".join(level.slug for level in levels)


def _level(segment: str, field: str) -> TopicLevel:
    name = clean_name(segment, field, maximum=MAXIMUM_TOPIC_NAME)
    slug = slugify(name)
    if not slug:
        raise Invalid(f"{field} has a level “{excerpt(segment, 40)}” without letters or digits; name it with some.")
    if len(slug) > MAXIMUM_TOPIC_SLUG:
        raise Invalid(
            f"{field} has a level of {len(slug)} characters (“{excerpt(slug, 40)}”), "
            f"at most {MAXIMUM_TOPIC_SLUG} are allowed."
        )
    # Whoever typed the slug meant a name for people: vorgang-2026-08 is shown as Vorgang 2026 08.
    return TopicLevel(slug, name.replace("-", " ").title() if name == slug else name)
