"""The table of faults in `docs/reliability.md`: each row is what a test has just seen.

A row that differs fails its test. After a change that is meant, `WRITE_FAULT_TABLE=1 bin/test tests/faults` writes it.
"""

import os
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "reliability.md"


def expect_row(fault: str, seen: str, stored: str) -> None:
    """The documented row of `fault` says what the caller saw and what is stored now."""
    row = f"| {fault} | {seen} | {stored} |"
    text = DOCUMENT.read_text()
    if row in text:
        return
    if os.environ.get("WRITE_FAULT_TABLE") != "1":
        raise AssertionError(f"docs/reliability.md does not say: {row}")
    lines = text.split("\n")
    old = [number for number, line in enumerate(lines) if line.startswith(f"| {fault} |")]
    last = max(number for number, line in enumerate(lines) if line.startswith("|"))
    if old:
        lines[old[0]] = row
    else:
        lines.insert(last + 1, row)
    DOCUMENT.write_text("\n".join(lines))
