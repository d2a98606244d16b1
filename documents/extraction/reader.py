"""The process that reads one PDF: bytes on stdin, `{"text": …}` or `{"error": …}` on stdout."""

import contextlib
import json
import logging
import os
import sys

from core.errors import Invalid
from documents.extraction.pdf import pdf_text

_HOPELESS = "The PDF could not be read: it is damaged or needs too much memory."


def main() -> None:
    """Answer for the file on stdin; arguments: bytes of memory and seconds of processor time."""
    _limit(memory=int(sys.argv[1]), seconds=int(sys.argv[2]))
    # Parsers complain about every page of an untidy file.
    logging.disable(logging.CRITICAL)
    answer: dict[str, str]
    try:
        # Libraries that print must not disturb the answer.
        with contextlib.redirect_stdout(sys.stderr):
            answer = {"text": pdf_text(sys.stdin.buffer.read())}
    except Invalid as error:
        answer = {"error": error.message}
    except Exception:  # whatever else a parser stumbles over, the file is at fault
        answer = {"error": _HOPELESS}
    sys.stdout.write(json.dumps(answer))


def _limit(*, memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the time limit of the caller still holds
        return
    # People and agents who wait for an answer come before a file that is being read.
    os.nice(10)
    for kind, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        _, hard = resource.getrlimit(kind)
        # A stricter limit of the machine stays; macOS refuses some values altogether.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


if __name__ == "__main__":
    main()
