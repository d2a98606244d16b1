"""`migrate`, with the rights of the tables' owner."""

from typing import Any

from django.core.management.commands import migrate

from core.database import as_owner


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with as_owner():
            super().handle(*args, **options)
