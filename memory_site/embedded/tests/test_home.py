import subprocess
import sys

import pytest

from memory_site.embedded.errors import HomeInUse
from memory_site.embedded.state import Home


def test_the_secret_key_is_made_once_and_private(home: Home) -> None:
    key = home.secret_key()
    assert len(key) >= 50
    assert home.secret_key() == key
    assert (home.path / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_second_user_of_the_home_is_told_who_holds_it(home: Home) -> None:
    code = (
        "import sys, time; from pathlib import Path; from memory_site.embedded.state import Home\n"
        "with Home(Path(sys.argv[1])).lock(): print('locked', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, home.path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(HomeInUse, match=f"in use by process {holder.pid}"), home.lock():
            pass
        holder.kill()
        holder.wait()
        with home.lock():
            pass


def test_published_addresses_are_private_and_can_be_withdrawn(home: Home) -> None:
    home.publish_connection({"DATABASE_URL": "postgres://a:secret@b/c"})
    assert home.published_connection() == {"DATABASE_URL": "postgres://a:secret@b/c"}
    assert (home.run / "connection.json").stat().st_mode & 0o777 == 0o600
    home.withdraw_connection()
    assert home.published_connection() is None


def test_the_log_of_the_last_run_is_kept_beside_the_new_one(home: Home) -> None:
    home.fresh_log("web").write_text("first")
    assert home.fresh_log("web").read_text() == ""
    assert (home.logs / "web.1.log").read_text() == "first"
