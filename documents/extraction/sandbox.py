"""Reading a PDF in a process of its own, with a bound on time and memory.

A file from outside can be made to expand without end or to loop in a parser; in its own process that costs one clear
sentence instead of a web worker.
"""

import json
import subprocess
import sys
from pathlib import Path

from core.errors import Invalid

SECONDS = 90
MEMORY_BYTES = 2 * 1024**3
_ROOT = Path(__file__).resolve().parents[2]


def read_pdf(data: bytes) -> str:
    """The text of a PDF. Raises `Invalid` when there is none to be had, with the reason."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "documents.extraction.reader", str(MEMORY_BYTES), str(SECONDS)],
            input=data,
            capture_output=True,
            timeout=SECONDS,
            cwd=_ROOT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Invalid(f"Reading the PDF took longer than {SECONDS} seconds; split it into smaller files.") from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        # Killed by a limit, or by a parser's crash: either way the file is not one that can be read.
        raise Invalid("The PDF could not be read: it needs too much memory or is damaged.") from None
    if "error" in answer:
        raise Invalid(answer["error"])
    return str(answer["text"])
