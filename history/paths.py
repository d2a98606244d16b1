"""Which paths a history takes: those that every git client on every system can check out, and no tricks."""

import re

from core.errors import Invalid
from core.text import excerpt

MAXIMUM_PATH_BYTES = 2000
# The longest name that common file systems take.
MAXIMUM_NAME_BYTES = 255
MAXIMUM_DEPTH = 64
# Control characters, invisible ones that HFS+ ignores inside names, what Windows refuses, and lone surrogates.
_FORBIDDEN = re.compile('[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\\\\:*?"<>|]')
# What git reserves, also as Windows and HFS+ may spell it.
_RESERVED = re.compile(r"\.git.*|git~\d+", re.IGNORECASE)
_RULE = (
    'names between “/” of at most 255 bytes, without control characters, backslashes or :*?"<>|, not beginning with '
    "“.git”, not “.” or “..”, not ending in a blank or a dot"
)


def validate_path(path: str) -> str:
    """`path` itself when it can stand in a history. Raises `Invalid`."""
    if _FORBIDDEN.search(path) or len(path.encode("utf-8", "replace")) > MAXIMUM_PATH_BYTES:
        raise _invalid(path)
    names = path.split("/")
    if len(names) > MAXIMUM_DEPTH or not all(_is_allowed(name) for name in names):
        raise _invalid(path)
    return path


def folder_range(path: str) -> tuple[str, str]:
    """The bounds between which all paths inside a folder sort: `low <= path < high`."""
    folder = path.rstrip("/")
    return folder + "/", folder + chr(ord("/") + 1)


def _is_allowed(name: str) -> bool:
    return (
        name not in ("", ".", "..")
        and name[-1] not in " ."
        and len(name.encode()) <= MAXIMUM_NAME_BYTES
        and not _RESERVED.fullmatch(name)
    )


def _invalid(path: str) -> Invalid:
    shown = excerpt(path.encode("utf-8", "replace").decode(), 80)
    return Invalid(f"The path {shown!r} cannot be kept in the history; paths are {_RULE}.")
