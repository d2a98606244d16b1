"""A wrong setting stops the start, with the name of the variable and what it may be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a-secret-of-the-tests-that-is-long-enough-for-anybody"


def start(**environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name not in ("DEBUG", "SECRET_KEY")}
    return subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT, env={**kept, **environment}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "SECRET_KEY must be set"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY must be set"),
        ({"SECRET_KEY": SECRET, "DATABASE_URL": "sqlite:///x"}, "DATABASE_URL must name a PostgreSQL database"),
        ({"SECRET_KEY": SECRET, "RATE_LIMIT_REQUESTS": "0"}, "RATE_LIMIT_REQUESTS must be at least 1"),
        (
            {"SECRET_KEY": SECRET, "RATE_LIMIT_WINDOW_SECONDS": "many"},
            "RATE_LIMIT_WINDOW_SECONDS must be a whole number",
        ),
        ({"SECRET_KEY": SECRET, "MEMORY_PORT": "x"}, "MEMORY_PORT must be a whole number"),
        ({"SECRET_KEY": SECRET, "EMBEDDINGS_PROVIDER": "magic"}, "EMBEDDINGS_PROVIDER must be one of"),
        ({"SECRET_KEY": SECRET, "EMBEDDINGS_DIMENSIONS": "wide"}, "EMBEDDINGS_DIMENSIONS must be a whole number"),
        ({"SECRET_KEY": SECRET, "EMBEDDINGS_PROVIDER": "azure"}, "EMBEDDINGS_ENDPOINT"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_wrong_setting_is_told_by_its_name(environment, said):
    done = start(**environment)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stderr


@pytest.mark.parametrize("environment", [{"SECRET_KEY": SECRET}, {"DEBUG": "1"}, {"SECRET_KEY": SECRET, "DEBUG": ""}])
def test_a_safe_setting_starts(environment):
    assert start(**environment, EMBEDDINGS_PROVIDER="", EMBEDDINGS_DIMENSIONS="").returncode == 0
