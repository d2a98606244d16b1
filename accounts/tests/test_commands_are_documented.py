"""docs/commands.md names every command with all its arguments, and no other."""

import argparse
import re
from pathlib import Path

import pytest
from django.core import management
from django.core.management import find_commands, get_commands, load_command_class

from core.commands import ServiceCommand

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs/commands.md").read_text()
# Django's own commands stay what they are, also where they run with other rights.
OF_DJANGO = find_commands(management.__path__[0])
OWN = sorted(file.stem for file in ROOT.glob("*/management/commands/*.py") if file.stem not in ("__init__", *OF_DJANGO))
_OF_DJANGO = {"--help", "--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color"} | {
    "--force-color",
    "--skip-checks",
}


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """All arguments that begin with hyphens, those of subcommands too."""
    found = {option for action in parser._actions for option in action.option_strings}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= {option for inner in action.choices.values() for option in options_of(inner)}
    return found


@pytest.mark.parametrize("name", OWN)
def test_a_command_is_documented_with_its_arguments(name):
    command = load_command_class(get_commands()[name], name)
    options = {option for option in options_of(command.create_parser("manage.py", name)) if option.startswith("--")}
    assert f"| `{name}` |" in PAGE
    assert [option for option in options - _OF_DJANGO if option not in PAGE] == []


def test_no_other_argument_is_documented():
    known = {"--json", "--help"}
    for name in OWN:
        command = load_command_class(get_commands()[name], name)
        known |= options_of(command.create_parser("", name))
    assert set(re.findall(r"(?<!-)--[a-z][a-z-]+", PAGE)) - known == set()


def test_every_command_of_our_own_can_answer_in_json():
    for name in OWN:
        command = load_command_class(get_commands()[name], name)
        assert isinstance(command, ServiceCommand) or name == "mcp_stdio", name
