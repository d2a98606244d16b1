import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.pids import process_identity
from memory_site.embedded.processes import Processes
from memory_site.embedded.tests.conftest import python

# Writes its name to a common file when it is asked to stop.
POLITE = """
import signal, sys, time
def stop(*_):
    open("stopped", "a").write("{name} ")
    sys.exit()
signal.signal(signal.SIGTERM, stop)
print("ready")
time.sleep(60)
"""
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid)
time.sleep(60)
"""


def first_line(log: Path) -> str:
    deadline = time.monotonic() + 20
    while not (log.exists() and "\n" in log.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return log.read_text().splitlines()[0]


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 20
    while process_identity(pid) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_last_started_is_stopped_first(processes: Processes, tmp_path: Path) -> None:
    for name in ("postgres", "redis", "web"):
        processes.start(python(name, POLITE.format(name=name), tmp_path))
        first_line(tmp_path / f"{name}.log")
    processes.stop_all()
    assert (tmp_path / "stopped").read_text() == "web redis postgres "
    assert list(processes.pids.directory.glob("*.pid")) == []


def test_a_program_that_does_not_stop_is_killed_with_its_children(processes: Processes, tmp_path: Path) -> None:
    process = processes.start(python("worker", STUBBORN, tmp_path, stop_seconds=0.2))
    grandchild = int(first_line(tmp_path / "worker.log"))
    processes.stop_all()
    assert process.exit_code() == -signal.SIGKILL
    wait_for_end(grandchild)


def test_what_a_crashed_program_leaves_behind_is_killed(processes: Processes, tmp_path: Path) -> None:
    process = processes.start(python("worker", STUBBORN, tmp_path))
    grandchild = int(first_line(tmp_path / "worker.log"))
    os.kill(process.pid, signal.SIGKILL)
    while process.exit_code() is None:
        time.sleep(0.02)
    wait_for_end(grandchild)


def test_a_program_that_ends_while_it_is_waited_for_is_an_error_with_its_last_words(
    processes: Processes, tmp_path: Path
) -> None:
    process = processes.start(python("redis", "print('no memory left'); raise SystemExit(3)", tmp_path))
    with pytest.raises(ServiceError, match=r"redis did not start \(exit code 3\)\.\n    no memory left"):
        processes.wait_until(process, lambda: False, 20)


def test_a_program_that_does_not_exist_is_an_error(processes: Processes, tmp_path: Path) -> None:
    program = python("web", "", tmp_path)
    with pytest.raises(ServiceError, match="web cannot be started"):
        processes.start(type(program)(**{**vars(program), "command": [str(tmp_path / "missing")]}))


@pytest.mark.skipif(sys.platform != "linux", reason="needs prctl; elsewhere the next start ends the leftovers")
def test_children_end_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from memory_site.embedded.pids import PidFiles\n"
        "from memory_site.embedded.processes import Processes\n"
        "from memory_site.embedded.tests.conftest import python\n"
        "place = Path(sys.argv[1])\n"
        "print(Processes(PidFiles(place)).start(python('web', 'import time; time.sleep(60)', place)).pid, flush=True)\n"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        assert process_identity(child) is not None
        supervisor.kill()
    wait_for_end(child)
