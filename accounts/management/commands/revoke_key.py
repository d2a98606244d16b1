from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from accounts.services.keys import find_key, revoke_key
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Revoke one API key for good, from the next request on."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--key", required=True, help="its id, the prefix that was printed, or the key itself")

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        key = find_key(options["key"])
        changed = revoke_key(key)
        return {
            "keyId": key.id,
            "keyPrefix": key.key_prefix,
            "label": key.label,
            "email": key.user.email,
            "revokedAt": key.revoked_at.isoformat() if key.revoked_at else None,
            "changed": changed,
        }

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        named = f"{result['keyPrefix']}… of {result['email']}"
        return [f"Revoked {named}." if result["changed"] else f"{named} was revoked before, at {result['revokedAt']}."]
