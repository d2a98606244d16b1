"""Cleaning of text that came from outside: one rule for every field of every surface.

title = clean_line(title, "title", maximum=300)
content = clean_text(content, "content", maximum=MAXIMUM_CONTENT)
"""

import re
import unicodedata
import uuid
from datetime import datetime

from django.utils import timezone

from core.errors import Invalid

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_CONTROL = re.compile(r"\s*[\x00-\x1f\x7f-\x9f\u2028\u2029]\s*")


def clean_text(value: object, field: str, *, maximum: int, required: bool = True) -> str:
    """`value` as NFC text without NUL characters; everything else is kept as it was written.

    Raises `Invalid` when it is no text, holds a lone surrogate, is longer than `maximum` characters, or is blank
    although `required`.
    """
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise Invalid(f"{field} must be text.")
    # The cheap bound comes first: normalising can only be asked of text of a sane size.
    if len(value) > maximum * 4:
        raise Invalid(_too_long(field, len(value), maximum))
    if _SURROGATE.search(value):
        raise Invalid(f"{field} contains half of a surrogate pair, which is not valid text; send complete characters.")
    value = unicodedata.normalize("NFC", value.replace("\x00", ""))
    if len(value) > maximum:
        raise Invalid(_too_long(field, len(value), maximum))
    if required and is_blank(value):
        raise Invalid(f"{field} must not be empty.")
    return value


def clean_line(value: object, field: str, *, maximum: int, required: bool = True) -> str:
    """As `clean_text`, on one line: control characters and line breaks become blanks, the ends are trimmed."""
    text = clean_text(value, field, maximum=maximum * 2, required=required)
    text = _LINE_CONTROL.sub(" ", text).strip()
    if len(text) > maximum:
        raise Invalid(_too_long(field, len(text), maximum))
    if required and is_blank(text):
        raise Invalid(f"{field} must not be empty.")
    return text


def optional_line(value: object, field: str, *, maximum: int) -> str | None:
    """As `clean_line`, where blank means "not given" and becomes None."""
    return clean_line(value, field, maximum=maximum, required=False) or None


def is_blank(value: str) -> bool:
    """Whether nothing in `value` can be seen: only white space, control and format characters (such as U+200B)."""
    return all(unicodedata.category(character)[0] in "ZC" for character in value)


def clean_uuid(value: object, field: str) -> uuid.UUID:
    """`value` as a UUID. Raises `Invalid` when it is none."""
    if isinstance(value, uuid.UUID):
        return value
    try:
        return uuid.UUID(str(value).strip())
    except ValueError:
        raise Invalid(f"{field} must be an id such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427.") from None


def clean_moment(value: str | None, field: str) -> datetime | None:
    """`value` as a point in time, in the server's time zone unless it names one; blank is None. Raises `Invalid`."""
    if not value or not value.strip():
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment if moment.tzinfo is not None else timezone.make_aware(moment)
    except (ValueError, OverflowError):
        raise Invalid(f"{field} must be a time such as 2026-03-01T12:00.") from None


def excerpt(text: str, maximum: int) -> str:
    """The first `maximum` characters of `text`, with `…` as the last one when something was cut."""
    return text if len(text) <= maximum else text[: maximum - 1] + "…"


def excerpt_around(text: str, start: int, end: int, maximum: int) -> str:
    """At most `maximum` characters of `text` about those from `start` to `end`, with `…` where something was cut.

    What lies in the beginning is shown with the beginning; of a part that is too long itself, the first characters.
    """
    if end < maximum or len(text) <= maximum:
        return excerpt(text, maximum)
    room = max(maximum - 2, 1)
    first = max(start - max(room - (end - start), 0) // 2, 0)
    if first + room >= len(text):
        return "…" + text[len(text) - (maximum - 1) :] if maximum > 1 else "…"
    return f"…{text[first : first + room]}…"


def _too_long(field: str, length: int, maximum: int) -> str:
    return f"{field} is too long: {length:,} characters, at most {maximum:,} are allowed."
