"""Files that arrive as text: base64, with or without the head of a data URL."""

import base64
import binascii
import re

from core.errors import Invalid

MAXIMUM_BYTES = 20 * 1024 * 1024
_DATA_URL = re.compile(r"\s*data:[^,]{0,200};base64,", re.IGNORECASE)
_BLANKS = str.maketrans("", "", " \t\r\n\f\v")


def decode_file(content: str) -> bytes:
    """The bytes of a base64 text or data URL. Raises `Invalid` when it is neither, or decodes to over 20 MB."""
    encoded = _DATA_URL.sub("", content, count=1).translate(_BLANKS).rstrip("=")
    if len(encoded) * 3 // 4 > MAXIMUM_BYTES:
        raise Invalid(f"The file is too large: at most {MAXIMUM_BYTES // (1024 * 1024)} MB are allowed.")
    try:
        # Both alphabets are accepted: the URL-safe one differs in two characters that the other never uses.
        plain = encoded.replace("-", "+").replace("_", "/").encode("ascii")
        data = base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise Invalid("The content of a pdf document must be the file in base64; this is not base64.") from None
    if not data:
        raise Invalid("The file is empty.")
    return data
