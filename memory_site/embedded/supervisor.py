"""Signals, and what happens when a child ends by itself."""

import os
import select
import signal
import sys
import time
from collections import defaultdict, deque
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

from memory_site.embedded.errors import ServiceError, StopRequested
from memory_site.embedded.processes import Process, Processes, exit_text

# A child that ends this often within this many seconds will not get better by itself.
MOST_RESTARTS = 5
RESTART_WINDOW_SECONDS = 60.0


def say(text: str) -> None:
    """One message on the terminal; a terminal that is gone is no reason to leave services behind."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"memory: {text}\n")
        sys.stderr.flush()


class StopSignals:
    """While entered: INT, TERM and HUP ask to stop, once, at the next `pause`. Main thread only."""

    def __init__(self) -> None:
        self._requested: signal.Signals | None = None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        self._read_end, self._write_end = os.pipe()
        for end in (self._read_end, self._write_end):
            os.set_blocking(end, False)
        self._wakeup_before = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # nohup ignores HUP on purpose.
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._request)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda number, frame: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._read_end)
        os.close(self._write_end)

    def _request(self, number: int, frame: FrameType | None) -> None:
        self._requested = self._requested or signal.Signals(number)

    def take(self) -> signal.Signals | None:
        """The signal that came since the last call."""
        requested, self._requested = self._requested, None
        return requested

    def pause(self, seconds: float) -> None:
        """Wait until the time is over, a signal comes or a child ends.

        Raises StopRequested after a signal.
        """
        if self._requested is None:
            select.select([self._read_end], [], [], seconds)
            with suppress(BlockingIOError):
                os.read(self._read_end, 4096)
        requested = self.take()
        if requested is not None:
            raise StopRequested(requested.name)


class RestartLimit:
    """Counts the ends of each child within a window of time."""

    def __init__(self, most: int = MOST_RESTARTS, window_seconds: float = RESTART_WINDOW_SECONDS) -> None:
        self.most = most
        self.window_seconds = window_seconds
        self._ends: defaultdict[str, deque[float]] = defaultdict(deque)

    def count(self, name: str, now: float) -> int:
        """How often this child has ended within the window, this time included."""
        ends = self._ends[name]
        ends.append(now)
        while ends[0] <= now - self.window_seconds:
            ends.popleft()
        return len(ends)


def watch(processes: Processes, limit: RestartLimit) -> None:
    """Restart every child that ends, until a signal asks to stop.

    Raises StopRequested then, and ServiceError when a child ends too often.
    """
    while True:
        ended = False
        for process in processes:
            code = process.exit_code()
            if code is not None:
                ended = True
                _restart(processes, process, code, limit)
        # A restart waits, and that wait takes the news of whatever else ended meanwhile: look again before sleeping.
        if not ended:
            processes.pause(60)


def _restart(processes: Processes, process: Process, code: int, limit: RestartLimit) -> None:
    name = process.program.name
    count = limit.count(name, time.monotonic())
    if count > limit.most:
        raise ServiceError(
            f"{name} ended {count} times within {limit.window_seconds:.0f} seconds ({exit_text(code)} at last), "
            f"so everything is stopped.{process.last_words()}"
        )
    say(f"{name} ended ({exit_text(code)}) and is started again ({count} of at most {limit.most} times).")
    # The longer it fails the longer the wait: what it needs may be on its way back.
    ready_at = time.monotonic() + 0.1 * 2**count
    while (rest := ready_at - time.monotonic()) > 0:
        processes.pause(rest)
    processes.restart(process)
