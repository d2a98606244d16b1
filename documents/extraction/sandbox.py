"""Reading a PDF in a process of its own, with a bound on time and memory.

A file from outside can be made to expand without end or to loop in a parser; in its own process that costs one clear
sentence instead of a web worker.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path

from core.errors import Busy, Invalid

# The longest texts allowed take about 20 seconds on one 2020s processor core; clients give up after a minute.
SECONDS = 60
# Files of 20 MB that are not made to expand need a quarter of it.
MEMORY_BYTES = 1024**3
# Readers of one server process at a time: more would only take the processor from everybody else.
READERS = 2
# A caller waits this long for a reader, and no longer: those who wait keep a thread that others need.
PATIENCE_SECONDS = 2
_readers = threading.BoundedSemaphore(READERS)
_ROOT = Path(__file__).resolve().parents[2]


def read_pdf(data: bytes) -> str:
    """The text of a PDF. Raises `Invalid` when there is none to be had, with the reason, and `Busy` when as many files
    are being read as may be.

    Raises `RuntimeError` with what Python said when the reading process does not start: that is not the file's fault.
    """
    if not _readers.acquire(timeout=PATIENCE_SECONDS):
        raise Busy("Other PDFs are being read right now; send this one again in a few seconds.")
    try:
        return _read(data)
    finally:
        _readers.release()


def _read(data: bytes) -> str:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "documents.extraction.reader", str(MEMORY_BYTES), str(int(SECONDS))],
            input=data,
            capture_output=True,
            timeout=SECONDS,
            cwd=_ROOT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Invalid(f"Reading the PDF took longer than {SECONDS} seconds; split it into smaller files.") from None
    if done.returncode > 0:
        raise RuntimeError(f"The PDF reader does not run: {done.stderr.decode(errors='replace')[-2000:]}")
    if done.returncode < 0:  # ended by a limit, or by a crash of the parser
        raise Invalid("The PDF could not be read: it is damaged or needs too much time or memory.")
    answer: dict[str, str] = json.loads(done.stdout)
    if "error" in answer:
        raise Invalid(answer["error"])
    return answer["text"]
