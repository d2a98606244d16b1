"""Base of the project's management commands: errors are one sentence, results are text or JSON."""

import argparse
import json
from collections.abc import Mapping
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError

from core.errors import AppError


class _Once(argparse.Action):
    """Stores a value as argparse does, but refuses a second one instead of forgetting the first."""

    _given = False

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if self._given:
            raise argparse.ArgumentError(self, "is given twice")
        self._given = True
        setattr(namespace, self.dest, values)


class _Parser(CommandParser):
    """Says what is wrong with the arguments as every other mistake is said: one sentence, exit code 1."""

    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            raise CommandError(message)
        self.exit(1, f"CommandError: {message} (--help shows all arguments)\n")


class ServiceCommand(BaseCommand):
    """A command that calls services. `perform` returns the result as JSON-ready data, `describe` tells it in words."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django has no setting for the parser's class.
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = _Parser
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.register("action", None, _Once)
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.perform(options)
        except AppError as error:
            raise CommandError(error.message) from error
        except OperationalError as error:
            raise CommandError(f"The database does not answer: {str(error).strip().splitlines()[0]}") from error
        except ProgrammingError as error:
            raise CommandError("The database is not prepared; run the command migrate first.") from error
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False, default=str))
        else:
            for line in self.describe(result):
                self.stdout.write(line)

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Do it. Raises an `AppError` for what the caller got wrong."""
        raise NotImplementedError

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        """The result in lines for people."""
        raise NotImplementedError
