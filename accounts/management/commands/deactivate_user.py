from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from accounts.services.users import get_user, set_active
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Deactivate a person and with them all their keys, or reactivate them. Revoked keys stay revoked."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--email", required=True)
        parser.add_argument("--reactivate", action="store_true", help="undo a deactivation")

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        user = get_user(options["email"])
        changed = set_active(user, options["reactivate"])
        return {"userId": user.id, "email": user.email, "active": user.is_active, "changed": changed}

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        state = "active" if result["active"] else "inactive"
        if not result["changed"]:
            return [f"{result['email']} is {state} already."]
        return [f"{result['email']} is {state} from the next request on."]
