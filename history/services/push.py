"""Pushed files become changes of what a space holds: checked here, applied by the app that keeps files in the history.

    register_push(apply_push)                        # in that app's AppConfig.ready

    def apply_push(access, space, changes, message) -> None:
        '''`changes`: path to new content, None for a file that was deleted.'''

`apply_push` runs inside the transaction that holds the lock of the space's history, bound to the space. It changes rows
and commits as every other write does, and raises an `AppError` to refuse the whole push; its sentence is printed by the
client. What takes long, such as embedding, waits for `transaction.on_commit`.
"""

import uuid
from collections.abc import Callable, Mapping

from core.errors import AccessDenied, Conflict, Invalid
from core.text import excerpt
from history import store
from history.paths import validate_path
from history.services.commits import MAXIMUM_FILE_BYTES, lock
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel

MAXIMUM_FILES = 1000
MAXIMUM_MESSAGE = 5000
SUFFIX = ".md"

ApplyPush = Callable[[AccessContext, SpaceAccess, Mapping[str, bytes | None], str], None]

_registered: list[ApplyPush] = []


def register_push(apply: ApplyPush) -> None:
    """Let `apply` take what is pushed, instead of what was registered before."""
    _registered[:] = [apply]


def require_push(access: AccessContext, space: SpaceAccess) -> None:
    """Raises `AccessDenied` when the caller may not write to the space, or nothing takes what would be pushed."""
    access.require(space, AccessLevel.READ_WRITE)
    if not _registered:
        raise AccessDenied(f"Space “{space.key}” cannot be changed by git push; it can be cloned and pulled.")


def push(
    access: AccessContext, space: SpaceAccess, *, base: str | None, changes: Mapping[str, bytes | None], message: str
) -> str | None:
    """Apply what was pushed onto commit `base`; returns where main stands then. All of it, or nothing.

    Raises `Conflict` when main does not stand at `base` any more, `Invalid` for files that are not taken, and whatever
    the registered function refuses with.
    """
    require_push(access, space)
    for path, content in changes.items():
        validate_file(path, content)
    with bound(space):
        head = lock(space.id).oid
        if (head.hex() if head is not None else None) != base:
            raise Conflict("main has moved since; run git pull --rebase and push again.")
        if changes:
            _registered[0](access, space, changes, excerpt(message.strip(), MAXIMUM_MESSAGE) or "Pushed")
        return _head(space.id)


def validate_file(path: str, content: bytes | None) -> None:
    """Raises `Invalid` for what may not be pushed."""
    validate_path(path)
    shown = excerpt(path, 200)
    if content is None:
        return
    if not path.endswith(SUFFIX):
        raise Invalid(f"“{shown}” is no Markdown file; only names that end in {SUFFIX} are taken.")
    if len(content) > MAXIMUM_FILE_BYTES:
        raise too_large(path)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise Invalid(f"“{shown}” is not UTF-8 text.") from None
    if "\x00" in text:
        raise Invalid(f"“{shown}” contains NUL characters; text has none.")


def too_large(path: str) -> Invalid:
    return Invalid(f"“{excerpt(path, 200)}” is too large: at most {MAXIMUM_FILE_BYTES // 2**20} MB are kept in a file.")


def _head(space_id: uuid.UUID) -> str | None:
    oid = store.read_head(space_id).oid
    return oid.hex() if oid is not None else None
