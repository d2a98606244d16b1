"""Request bodies: read into a temporary file, unpacked, bounded in size and time, before git is started for them."""

import asyncio
import tempfile
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import IO, Any

from history.http.requests import Refusal

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

# From the first byte to the last.
MAXIMUM_SECONDS = 120
_PIECE = 2**20


class BodyRefused(Exception):
    """The body is too large, too slow or no gzip; `refusal` is the answer, or None when the client has gone."""

    def __init__(self, refusal: Refusal | None) -> None:
        super().__init__(refusal)
        self.refusal = refusal


async def read_body(receive: Receive, encoding: str, maximum: int) -> IO[bytes]:
    """The body, unpacked, in a file that stands at its beginning; the caller closes it. Raises `BodyRefused`."""
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise BodyRefused(Refusal(415, "Bodies may be packed with gzip, and with nothing else."))
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if encoding.endswith("gzip") else None
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller, or below
    try:
        async with asyncio.timeout(MAXIMUM_SECONDS):
            await _copy(receive, file, unpack, maximum)
    except TimeoutError:
        file.close()
        sentence = f"The request did not arrive within {MAXIMUM_SECONDS} seconds; try again."
        raise BodyRefused(Refusal(408, sentence, [(b"connection", b"close")])) from None
    except (zlib.error, EOFError):
        file.close()
        raise BodyRefused(Refusal(400, "The body is no gzip, although its header says so.")) from None
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


async def _copy(receive: Receive, file: IO[bytes], unpack: "zlib._Decompress | None", maximum: int) -> None:
    size = received = 0
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise BodyRefused(None)
        part = message.get("body", b"")
        more = message.get("more_body", False)
        received += len(part)
        while part:
            # A piece at a time: a small body may unpack to gigabytes.
            piece = part if unpack is None else unpack.decompress(part, _PIECE)
            part = b"" if unpack is None else unpack.unconsumed_tail
            size += len(piece)
            if max(size, received) > maximum:
                limit = f"{maximum // 2**20} MB"
                raise BodyRefused(Refusal(413, f"At most {limit} are taken at once.", [(b"connection", b"close")]))
            file.write(piece)
    if unpack is not None and not unpack.eof:
        raise EOFError
