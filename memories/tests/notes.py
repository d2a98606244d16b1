"""Small builders for tests of notes."""

from typing import Any

from memories.notes import Note
from memories.services.notes import upsert_note
from spaces.access import AccessContext


def write(
    access: AccessContext, title: str, text: str = "Text.", *, topic: str | None = "office", **fields: Any
) -> Note:
    """A note in the caller's active space."""
    return upsert_note(access, project=None, topic=topic, title=title, text=text, **fields).note
