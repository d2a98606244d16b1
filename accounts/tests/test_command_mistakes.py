"""The commands as programs: where a mistake is printed, and with which exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    address, question, options = os.environ["DATABASE_URL"].partition("?")
    url = f"{address.rpartition('/')[0]}/{connection.settings_dict['NAME']}{question}{options}"
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "DATABASE_URL": url, "EMBEDDINGS_PROVIDER": "none"},
        check=False,
        timeout=60,
    )


def test_a_mistake_is_one_sentence_on_stderr_and_nothing_on_stdout():
    for arguments in (
        ("create_user", "--email", "nobody"),
        ("deactivate_user", "--email", "nobody@example.org"),
        ("revoke_key", "--key", "mmcp_unknown"),
    ):
        done = run(*arguments, "--json")
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.startswith("CommandError: ")
        assert done.stderr.count("\n") == 1
