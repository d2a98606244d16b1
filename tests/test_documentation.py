"""What is documented is there, and what is there is documented."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_setting_is_documented_and_every_documented_setting_is_read():
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', (ROOT / "memory_site/settings.py").read_text()))
    documented = set(re.findall(r"`([A-Z][A-Z_]+)`", (ROOT / "docs/configuration.md").read_text()))
    assert read - documented == set()
    assert documented - read == {"MEMORY_API_KEY", "UTC", "INFO"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files_that_are_there(path):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_that_are_named_exist(path):
    text = path.read_text()
    scripts = set(re.findall(r"(?<![\w/.])(bin/\w+)", text))
    assert [script for script in scripts if not (ROOT / script).exists()] == []
    commands = set(re.findall(r"bin/manage ([a-z_]+)|manage\.py ([a-z_]+)", text))
    named = {first or second for first, second in commands}
    own = {file.stem for file in ROOT.glob("*/management/commands/*.py")}
    django = {
        "migrate",
        "createsuperuser",
        "changepassword",
        "check",
        "shell",
        "dbshell",
        "makemessages",
        "compilemessages",
    }
    assert named - own - django == set()
