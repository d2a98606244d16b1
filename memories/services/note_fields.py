"""What callers say about a note, cleaned: each field has one rule, whichever way it came in."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import Invalid
from core.text import clean_line, clean_text, excerpt
from memories.note_models import (
    MAXIMUM_NOTE_SLUG,
    MAXIMUM_NOTE_TEXT,
    MAXIMUM_NOTE_TITLE,
    MAXIMUM_SOURCE_REF,
    MAXIMUM_SOURCE_TYPE,
    MAXIMUM_SOURCES,
    MAXIMUM_TAG,
    MAXIMUM_TAGS,
    FollowUp,
    NoteStatus,
)
from spaces.slugs import clean_name, slug_of

KNOWN_SOURCE_TYPES = ("mail", "whatsapp", "signal", "paperless", "nextcloud", "hero", "document")
_SOURCE_TYPE = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_STATUSES = {
    "current": NoteStatus.CURRENT,
    "aktuell": NoteStatus.CURRENT,
    "outdated": NoteStatus.OUTDATED,
    "veraltet": NoteStatus.OUTDATED,
}
_FOLLOW_UPS = {
    "open": FollowUp.OPEN,
    "offen": FollowUp.OPEN,
    "waiting": FollowUp.WAITING,
    "wartet": FollowUp.WAITING,
    "none": None,
}


@dataclass(frozen=True, order=True)
class Source:
    """Something outside that a note came from; unique in a space."""

    type: str
    ref: str

    def __str__(self) -> str:
        return f"{self.type}:{self.ref}"


def clean_title(value: object) -> tuple[str, str]:
    """A title and the slug it gives. Raises `Invalid`."""
    title = clean_name(value, "title", maximum=MAXIMUM_NOTE_TITLE)
    slug = slug_of(title, maximum=MAXIMUM_NOTE_SLUG)
    if not slug:
        raise Invalid(f"title “{excerpt(title, 40)}” must contain letters or digits, of which the note's name is made.")
    return title, slug


def clean_body(value: object, field: str = "text") -> str:
    """A note's text, with plain line ends; it may be empty. Raises `Invalid`."""
    return clean_text(value, field, maximum=MAXIMUM_NOTE_TEXT, required=False).replace("\r\n", "\n")


def clean_tags(value: object) -> list[str]:
    """Tags in lower case, each once, in the order given; blank ones are dropped. Raises `Invalid`."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise Invalid("tags must be a list of words.")
    tags = (clean_line(tag, "a tag", maximum=MAXIMUM_TAG, required=False).lower() for tag in value)
    found = list(dict.fromkeys(tag for tag in tags if tag))
    if len(found) > MAXIMUM_TAGS:
        raise Invalid(f"A note has {len(found)} tags, at most {MAXIMUM_TAGS} are allowed.")
    return found


def clean_status(value: object) -> NoteStatus:
    """current or outdated (aktuell, veraltet), in any case. Raises `Invalid`."""
    status = _STATUSES.get(value.strip().lower()) if isinstance(value, str) else None
    if status is None:
        raise Invalid("status must be current or outdated (or aktuell, veraltet).")
    return status


def clean_follow_up(value: object) -> FollowUp | None:
    """open or waiting (offen, wartet); none clears it. Raises `Invalid`."""
    word = value.strip().lower() if isinstance(value, str) else None
    if word not in _FOLLOW_UPS:
        raise Invalid("follow_up_status must be open, waiting or none (or offen, wartet).")
    return _FOLLOW_UPS[word]


def clean_sources(value: object) -> list[Source]:
    """Sources, each once, in the order given. An item is a `Source` or has the fields “type” and “ref”."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise Invalid("sources must be a list of items with type and ref.")
    found = list(dict.fromkeys(_source(item) for item in value))
    if len(found) > MAXIMUM_SOURCES:
        raise Invalid(f"A note names {len(found)} sources, at most {MAXIMUM_SOURCES} are allowed.")
    return found


def clean_source_type(value: object) -> str:
    """The kind of a source: one of the known ones, or a word of one's own. Raises `Invalid`."""
    name = clean_line(value, "a source's type", maximum=MAXIMUM_SOURCE_TYPE).lower()
    if not _SOURCE_TYPE.fullmatch(name):
        known = ", ".join(KNOWN_SOURCE_TYPES)
        raise Invalid(f"A source's type is a word such as {known}: lower-case letters, digits and hyphens.")
    return name


def clean_source_ref(value: object) -> str:
    return clean_line(value, "a source's ref", maximum=MAXIMUM_SOURCE_REF)


def parse_sources(texts: Sequence[str]) -> list[Source]:
    """Sources as files write them: “type:reference”. Raises `Invalid`."""
    parts = [text.partition(":") for text in texts]
    return clean_sources([{"type": kind, "ref": ref} for kind, _, ref in parts])


def _source(item: object) -> Source:
    if isinstance(item, Source):
        return Source(clean_source_type(item.type), clean_source_ref(item.ref))
    if not isinstance(item, Mapping) or not {"type", "ref"} <= item.keys():
        raise Invalid("Each source needs a type and a ref.")
    if item.keys() != {"type", "ref"}:
        raise Invalid("A source has a type and a ref, and nothing else.")
    return Source(clean_source_type(item["type"]), clean_source_ref(item["ref"]))
