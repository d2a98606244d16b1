import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_site.embedded.pids import PidFiles, process_identity


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], process_group=0)
    # Leftovers have another parent that reaps them; here this thread does.
    threading.Thread(target=child.wait, daemon=True).start()
    yield child
    child.kill()
    child.wait()


def test_a_recorded_process_is_found_while_it_runs(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    pids = PidFiles(tmp_path)
    pids.record("web", sleeper.pid)
    assert pids.running("web") == sleeper.pid
    sleeper.kill()
    sleeper.wait()
    assert pids.running("web") is None
    assert pids.recorded("web") == sleeper.pid


def test_leftovers_are_ended(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    pids = PidFiles(tmp_path)
    pids.record("web", sleeper.pid)
    assert pids.end_leftovers() == ["web"]
    assert process_identity(sleeper.pid) is None


def test_another_process_with_the_same_pid_is_left_alone(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    (tmp_path / "web.pid").write_text(f"{sleeper.pid} another-boot:12345\n")
    assert PidFiles(tmp_path).end_leftovers() == []
    assert process_identity(sleeper.pid) is not None


@pytest.mark.parametrize("content", ["", "12", "x y", "-1 boot:1"])
def test_a_damaged_pid_file_names_nobody(tmp_path: Path, content: str) -> None:
    (tmp_path / "web.pid").write_text(content)
    assert PidFiles(tmp_path).end_leftovers() == []
