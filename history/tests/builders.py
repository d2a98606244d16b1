"""Small builders for tests of the history."""

import uuid
from datetime import UTC, datetime

from history.services.commits import Author, Commit, commit
from spaces.isolation import bound

ADA = Author("Ada Lovelace", "ada@example.org")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def save(
    space_id: uuid.UUID,
    files: dict[str, str | None],
    *,
    author: Author = ADA,
    message: str = "Saved",
    trailers: dict[str, str] | None = None,
    moment: datetime = NOON,
) -> Commit | None:
    """One commit in a transaction of its own; texts are written as UTF-8."""
    changes = {path: None if text is None else text.encode() for path, text in files.items()}
    with bound(space_id):
        return commit(space_id, changes, author=author, message=message, trailers=trailers or {}, moment=moment)


def saved(space_id: uuid.UUID, files: dict[str, str | None], **options: object) -> Commit:
    """As `save`, where something must have changed."""
    made = save(space_id, files, **options)
    assert made is not None
    return made
