"""Request bodies: read into a temporary file, unpacked and bounded, before git is started for them."""

import tempfile
import zlib
from typing import IO

from core.asgi import BoundedBody, Receive, Refusal, Scope

_CLOSE = ((b"connection", b"close"),)
_PIECE = 2**20


class BodyRefused(Exception):
    """The body is too large, too slow or no gzip; `refusal` is the answer, or None when the client has gone."""

    def __init__(self, refusal: Refusal | None) -> None:
        super().__init__(refusal)
        self.refusal = refusal


async def read_body(scope: Scope, receive: Receive, encoding: str, maximum: int) -> IO[bytes]:
    """The body, unpacked to at most `maximum` bytes, in a file that stands at its beginning; the caller closes it.

    Raises `BodyRefused`.
    """
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise BodyRefused(Refusal(415, "Bodies may be packed with gzip, and with nothing else."))
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if encoding.endswith("gzip") else None
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller, or below
    try:
        await _copy(BoundedBody(scope, receive), file, unpack, maximum)
    except (zlib.error, EOFError):
        file.close()
        raise BodyRefused(Refusal(400, "The body is no gzip, although its header says so.")) from None
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


async def _copy(body: BoundedBody, file: IO[bytes], unpack: "zlib._Decompress | None", maximum: int) -> None:
    size = 0
    while not body.is_complete:
        message = await body.receive()
        if message["type"] != "http.request":
            await body.drain()
            raise BodyRefused(body.refusal)
        part = message.get("body", b"")
        while part:
            # A piece at a time: a small body may unpack to gigabytes.
            piece = part if unpack is None else unpack.decompress(part, _PIECE)
            part = b"" if unpack is None else unpack.unconsumed_tail
            size += len(piece)
            if size > maximum:
                raise BodyRefused(Refusal(413, f"At most {maximum // 2**20} MB are taken at once.", _CLOSE))
            file.write(piece)
    if unpack is not None and not unpack.eof:
        raise EOFError
