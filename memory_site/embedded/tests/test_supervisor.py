import os
import signal
import threading
from pathlib import Path

import pytest

from memory_site.embedded.errors import ServiceError, StopRequested
from memory_site.embedded.processes import Processes
from memory_site.embedded.state import Home
from memory_site.embedded.supervisor import RestartLimit, StopSignals, watch
from memory_site.embedded.tests.conftest import python


def test_a_crashed_child_is_started_again(home: Home, tmp_path: Path) -> None:
    # The second life asks its supervisor to stop, so the test ends when the restart has happened.
    code = (
        "import os, signal, time; lives = open('lives', 'a+'); lives.write('x'); lives.flush(); lives.seek(0)\n"
        "if len(lives.read()) == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)"
    )
    with StopSignals() as signals:
        processes = Processes(home.pids, signals.pause)
        processes.start(python("web", code, tmp_path))
        try:
            with pytest.raises(StopRequested, match="SIGTERM"):
                watch(processes, RestartLimit())
        finally:
            processes.stop_all()
    assert (tmp_path / "lives").read_text() == "xx"


def test_a_child_that_ends_while_another_waits_for_its_restart_is_not_overlooked(home: Home, tmp_path: Path) -> None:
    first = "\n".join(
        (
            "import os, pathlib, signal, time",
            "if pathlib.Path('second-life').exists(): os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)",
            "while not pathlib.Path('other-ended').exists(): time.sleep(0.01)",
            "time.sleep(0.05); pathlib.Path('second-life').touch(); os.kill(os.getpid(), signal.SIGKILL)",
        )
    )
    other = (
        "import pathlib, time; mark = pathlib.Path('other-ended')\n"
        "if mark.exists(): time.sleep(60)\n"
        "mark.touch(); raise SystemExit(1)"
    )
    with StopSignals() as signals:

        def pause(seconds: float) -> None:
            if seconds > 10:
                assert [process.exit_code() for process in processes] == [None, None]
            signals.pause(seconds)

        processes = Processes(home.pids, pause)
        processes.start(python("postgres", first, tmp_path))
        processes.start(python("web", other, tmp_path))
        try:
            with pytest.raises(StopRequested, match="SIGTERM"):
                watch(processes, RestartLimit())
        finally:
            processes.stop_all()


def test_a_child_that_keeps_crashing_stops_everything(home: Home, tmp_path: Path) -> None:
    with StopSignals() as signals:
        processes = Processes(home.pids, signals.pause)
        processes.start(python("web", "print('broken setting'); raise SystemExit(4)", tmp_path))
        with pytest.raises(
            ServiceError, match=r"web ended 3 times within 60 seconds \(exit code 4(.|\n)*broken setting"
        ):
            watch(processes, RestartLimit(most=2))


def test_old_crashes_are_forgiven() -> None:
    limit = RestartLimit(most=5, window_seconds=60)
    assert [limit.count("web", now) for now in (0, 30, 59, 61, 200)] == [1, 2, 3, 3, 1]
    assert limit.count("worker", 200) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_pause_at_once(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopSignals() as signals:
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        with pytest.raises(StopRequested, match=number.name):
            signals.pause(60)
    assert signal.getsignal(number) is before


def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignals() as signals:
            os.kill(os.getpid(), signal.SIGHUP)
            signals.pause(0)
    finally:
        signal.signal(signal.SIGHUP, before)
