"""The process that reads one PDF: bytes on stdin, `{"text": …}` or `{"error": …}` on stdout."""

import contextlib
import json
import logging
import sys

from core.errors import Invalid
from documents.extraction.pdf import pdf_text


def main() -> None:
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    _limit(memory, seconds)
    logging.disable(logging.CRITICAL)
    data = sys.stdin.buffer.read()
    answer: dict[str, str]
    try:
        # Libraries that print must not disturb the answer.
        with contextlib.redirect_stdout(sys.stderr):
            answer = {"text": pdf_text(data)}
    except Invalid as error:
        answer = {"error": error.message}
    except (MemoryError, RecursionError):
        answer = {"error": "The PDF could not be read: it needs too much memory or is damaged."}
    sys.stdout.write(json.dumps(answer))


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the time limit of the caller still holds
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


if __name__ == "__main__":
    main()
