"""Base of the project's management commands: errors are one sentence, results are text or JSON."""

import json
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import AppError


class ServiceCommand(BaseCommand):
    """A command that calls services. `perform` returns the result as JSON-ready data, `describe` tells it in words."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.perform(options)
        except AppError as error:
            raise CommandError(error.message) from error
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
