from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ServiceCommand
from memory_site.services import seed


class Command(ServiceCommand):
    help = "Create the spaces default and team with a Writer and a Reader. What exists is left as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--new-keys", action="store_true", help="revoke the seeded keys and print fresh ones")

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return {
            "keys": [
                {
                    "email": seeded.user.email,
                    "role": seeded.user.role,
                    "keyId": seeded.key.id,
                    "keyPrefix": seeded.key.key_prefix,
                    "key": seeded.secret,
                }
                for seeded in seed(new_keys=options["new_keys"])
            ]
        }

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        lines = []
        for key in result["keys"]:
            named = f"{key['role']} {key['email']}"
            if key["key"]:
                lines.append(f"{named}, key shown only this once: {key['key']}")
            else:
                lines.append(f"{named} has the key {key['keyPrefix']}… already; seed --new-keys replaces it.")
        return lines
