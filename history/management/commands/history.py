from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import ServiceCommand
from history.subcommands import SUBCOMMANDS


class Command(ServiceCommand):
    help = "Look at the history of spaces, check it, and take it out."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        for name, subcommand in SUBCOMMANDS.items():
            inner = actions.add_parser(name, help=subcommand.help, description=subcommand.help)
            super().add_arguments(inner)
            subcommand.add_arguments(inner)

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        self._subcommand = SUBCOMMANDS[options["subcommand"]]
        self._result = self._subcommand.perform(options)
        return self._result

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        return self._subcommand.describe(result)

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if not self._subcommand.is_well(self._result):
            raise CommandError("Something is wrong; see above.")
