"""Waiting in tests for what other processes and threads do."""

import time
from collections.abc import Callable


def eventually(holds: Callable[[], object], seconds: float = 60) -> bool:
    """Whether `holds` becomes true within `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False
