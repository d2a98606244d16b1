"""`bin/run` and `bin/test` as they are used: as programs of their own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memory_site.embedded.pids import process_identity
from memory_site.embedded.state import Home

EMBEDDED = [sys.executable, "-P", "-m", "memory_site.embedded"]


@pytest.fixture(autouse=True)
def in_this_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_HOME", str(home.path))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*EMBEDDED, *arguments], capture_output=True, text=True, timeout=120, check=False)


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*EMBEDDED, *arguments], stdout=subprocess.PIPE, text=True, process_group=0)


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_command_gets_the_services_and_its_exit_code_is_ours(home: Home) -> None:
    ended = run("run", "sh", "-c", 'psql -Atc "SELECT 40 + 2"; echo "$SECRET_KEY"; exit 7')
    assert ended.returncode == 7
    assert ended.stdout.split() == ["42", home.secret_key()]
    assert list(home.run.glob("*.pid")) == []


def test_only_the_command_writes_to_standard_output(home: Home) -> None:
    assert run("run", "true").stdout == ""


def test_a_second_command_uses_the_services_of_the_first_and_keeps_them(home: Home) -> None:
    first = start("run", "sh", "-c", "echo up; exec sleep 60")
    assert read_line(first) == "up"
    server = home.pids.running("postgres")
    go = home.path / "go"
    second = start("run", "sh", "-c", f'echo up; while [ ! -e "{go}" ]; do sleep 0.05; done; psql -Atc "SELECT 1"')
    assert read_line(second) == "up"
    assert home.pids.running("postgres") == server
    os.killpg(first.pid, signal.SIGTERM)
    go.touch()
    assert read_line(second) == "1"
    assert second.wait(30) == 0
    first.wait(30)
    assert server is not None
    assert process_identity(server) is None


def test_term_ends_the_command_and_the_services(home: Home) -> None:
    process = start("run", "sh", "-c", "echo up; exec sleep 60")
    assert read_line(process) == "up"
    server = home.pids.running("postgres")
    process.terminate()
    assert process.wait(30) == 128 + signal.SIGTERM
    assert server is not None
    assert process_identity(server) is None


def test_an_unknown_program_is_one_sentence(home: Home) -> None:
    ended = run("run", "no-such-program")
    assert (ended.returncode, ended.stderr) == (1, "memory: There is no command 'no-such-program'.\n")


def test_the_test_runner_answers_with_pytests_exit_code_and_leaves_nothing(tmp_path: Path) -> None:
    failing = tmp_path / "test_it.py"
    failing.write_text(
        "import os\ndef test_it():\n    print('\\nsockets', os.environ['PGHOST'])\n    assert False, 'on purpose'\n"
    )
    ended = run("test", str(failing), "-q", "-s", "-p", "no:django", "-c", os.devnull)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "on purpose" in ended.stdout
    [sockets] = [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("sockets ")]
    assert not Path(sockets).exists()


def test_ctrl_c_stops_the_tests_and_their_services(tmp_path: Path) -> None:
    slow = tmp_path / "test_it.py"
    slow.write_text(
        "import os, time\n"
        "def test_it():\n"
        "    print('\\nsockets', os.environ['PGHOST'], flush=True)\n"
        "    time.sleep(60)\n"
    )
    process = start("test", str(slow), "-q", "-s", "-p", "no:django", "-c", os.devnull)
    line = read_line(process)
    while not line.startswith("sockets "):
        line = read_line(process)
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 2  # pytest's "interrupted"
    assert not Path(line.split()[1]).exists()
