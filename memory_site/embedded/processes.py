"""Child processes: started in a group of their own, recorded in pid files, stopped in order within bounded time."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.pids import PidFiles
from memory_site.embedded.placement import Account

# prctl(2); loaded here because nothing may be imported between fork and exec.
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Program:
    """How to run one program, and how to ask it to stop.

    `log` None leaves its output on the terminal. `stop_signal` also reaches it when its supervisor dies (Linux).
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    directory: Path
    log: Path | None = None
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10


class Process:
    """A program that was started."""

    def __init__(self, program: Program) -> None:
        self.program = program
        account = program.account
        parent = os.getpid()

        def follow_the_supervisor() -> None:
            # After the change of user, which would clear it. Who died before this call never sends the signal.
            if _libc is not None:
                _libc.prctl(_PR_SET_PDEATHSIG, int(program.stop_signal))
                if os.getppid() != parent:
                    os._exit(1)

        output = program.log.open("ab") if program.log else None
        try:
            self._popen = subprocess.Popen(
                program.command,
                env=dict(program.environment),
                cwd=program.directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                # Ctrl-C at the terminal reaches only the supervisor, which stops the children in order.
                process_group=0,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                umask=0o077 if account else -1,
                preexec_fn=follow_the_supervisor,
            )
        except OSError as error:
            raise ServiceError(f"{program.name} cannot be started: {error}.") from error
        finally:
            if output:
                output.close()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative: ended by that signal. What its process group left behind is killed."""
        if self._popen.returncode is None and self._popen.poll() is not None:
            self._kill_group()
        return self._popen.returncode

    def stop(self) -> None:
        """Ask it to stop, wait, kill it with its process group when it does not."""
        if self.exit_code() is not None:
            return
        self._popen.send_signal(self.program.stop_signal)
        try:
            self._popen.wait(self.program.stop_seconds)
        except subprocess.TimeoutExpired:
            self._kill_group()
            self._popen.wait()
        self._kill_group()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def last_words(self, lines: int = 15) -> str:
        """The end of its log, to be shown after a sentence."""
        log = self.program.log
        if log is None or not log.exists():
            return ""
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
        return "".join(f"\n    {line}" for line in (*tail, f"(from {log})"))


class Processes:
    """The children of one supervisor, in the order they were started.

    `pause` waits the given seconds; it may return early when a child ends, and raise StopRequested.
    """

    def __init__(self, pids: PidFiles, pause: Callable[[float], None] = time.sleep) -> None:
        self.pids = pids
        self.pause = pause
        self._running: list[Process] = []

    def __iter__(self) -> Iterator[Process]:
        return iter(tuple(self._running))

    def start(self, program: Program) -> Process:
        """Start a program and remember it.

        Raises ServiceError when it cannot be executed.
        """
        process = Process(program)
        self._running.append(process)
        self.pids.record(program.name, process.pid)
        return process

    def restart(self, process: Process) -> Process:
        """Start the program of an ended process again, in the same place of the stop order."""
        fresh = Process(process.program)
        self._running[self._running.index(process)] = fresh
        self.pids.record(process.program.name, fresh.pid)
        return fresh

    def wait_until(
        self, process: Process, ready: Callable[[], bool], seconds: float, every_seconds: float = 0.05
    ) -> None:
        """Ask `ready` again and again until it answers True.

        Raises ServiceError when the process ends first, or the time is over.
        """
        name = process.program.name
        deadline = time.monotonic() + seconds
        while not ready():
            code = process.exit_code()
            if code is not None:
                raise ServiceError(f"{name} did not start ({exit_text(code)}).{process.last_words()}")
            if time.monotonic() > deadline:
                raise ServiceError(f"{name} was not ready within {seconds:.0f} seconds.{process.last_words()}")
            self.pause(every_seconds)

    def run(self, program: Program) -> Process:
        """Run a program to its end."""
        process = self.start(program)
        while process.exit_code() is None:
            self.pause(0.1)
        self._forget(process)
        return process

    def stop_all(self) -> None:
        """Stop everything, the last started first."""
        while self._running:
            self._running[-1].stop()
            self._forget(self._running[-1])

    def _forget(self, process: Process) -> None:
        self._running.remove(process)
        self.pids.forget(process.program.name)


def exit_text(code: int) -> str:
    """An exit code in words: `exit code 3`, `ended by SIGKILL`."""
    return f"exit code {code}" if code >= 0 else f"ended by {signal.Signals(-code).name}"
