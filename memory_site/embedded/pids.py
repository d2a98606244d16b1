"""Pid files that cannot be fooled by a reused pid: each holds the pid and what identifies that very process.

A process found by its file alone is ended only when its start time still matches; names are never looked at.
"""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def process_identity(pid: int) -> str | None:
    """Text that no other process will ever share: boot and start time. None when the process has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None if BOOT_ID.exists() else _identity_from_ps(pid)
    # proc(5): the command, in brackets, may hold anything; the state (3rd field) and the start time (22nd) follow it.
    fields = stat.rpartition(")")[2].split()
    if fields[0] in ("Z", "X"):
        return None
    return f"{BOOT_ID.read_text(encoding='ascii').strip()}:{fields[19]}"


def _identity_from_ps(pid: int) -> str | None:
    """The same for systems without /proc (macOS), exact to the second."""
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    state, _, started = answer.stdout.strip().partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


class PidFiles:
    """The pid files of one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def record(self, name: str, pid: int) -> None:
        """Remember a process that was just started."""
        identity = process_identity(pid)
        if identity is None:
            return
        fresh = self.directory / f"{name}.pid.new"
        fresh.write_text(f"{pid} {identity}\n", encoding="ascii")
        fresh.rename(self._path(name))

    def forget(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def recorded(self, name: str) -> int | None:
        """The pid in the file, whether it still runs or not."""
        entry = self._read(self._path(name))
        return entry[0] if entry else None

    def running(self, name: str) -> int | None:
        """The pid in the file when that very process still runs."""
        entry = self._read(self._path(name))
        return entry[0] if entry and process_identity(entry[0]) == entry[1] else None

    def end_leftovers(
        self, stop_signal: Callable[[str], Signals] = lambda name: SIGTERM, seconds: float = 15
    ) -> list[str]:
        """End every recorded process that still runs, and answer their names.

        All are asked at once; who has not ended after `seconds` is killed with its process group. The files stay until
        the next `record` or `forget`, because PostgreSQL's own lock file is judged by them.
        """
        names = [path.stem for path in sorted(self.directory.glob("*.pid")) if self.running(path.stem)]
        for name in names:
            self._signal(name, stop_signal(name))
        deadline = time.monotonic() + seconds
        while any(self.running(name) for name in names) and time.monotonic() < deadline:
            time.sleep(0.05)
        for name in names:
            self._signal(name, SIGKILL, group=True)
        while any(self.running(name) for name in names):
            time.sleep(0.05)
        return names

    def _signal(self, name: str, number: Signals, *, group: bool = False) -> None:
        pid = self.running(name)
        if pid is None:
            return
        try:
            if group and os.getpgid(pid) == pid:
                os.killpg(pid, number)
            else:
                os.kill(pid, number)
        except ProcessLookupError:
            return

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}.pid"

    @staticmethod
    def _read(path: Path) -> tuple[int, str] | None:
        try:
            pid, _, identity = path.read_text(encoding="utf-8").strip().partition(" ")
        except FileNotFoundError:
            return None
        return (int(pid), identity) if pid.isdecimal() and identity else None
