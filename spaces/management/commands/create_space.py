from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from core.commands import ServiceCommand
from spaces.models import Language
from spaces.services.granting import RequestedTarget, find_targets, grant_targets
from spaces.services.provisioning import create_space, find_space, split_level


class Command(ServiceCommand):
    help = "Create a space, and let existing keys use it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--key", required=True, help="how agents name the space")
        parser.add_argument("--name", help="shown to people; the key when left out")
        parser.add_argument("--description")
        parser.add_argument(
            "--language", default=Language.ENGLISH.value, help=f"{', '.join(Language.values)}, or one of your own"
        )
        parser.add_argument(
            "--grant",
            action="append",
            default=[],
            metavar="TARGET[:Read|ReadWrite]",
            help="an e-mail address (all keys of that person), a key's id or its printed prefix; repeat for several",
        )
        parser.add_argument("--make-default", action="store_true", help="make it the active space of those keys")
        parser.add_argument("--allow-existing", action="store_true", help="grant on a space that exists already")

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        requested = [RequestedTarget(*split_level(text)) for text in options["grant"]]
        with transaction.atomic():
            # Every target is found before anything is written.
            targets = find_targets(requested)
            existing = find_space(options["key"]) if options["allow_existing"] else None
            space = existing or create_space(
                key=options["key"],
                name=options["name"],
                description=options["description"],
                language=options["language"],
            )
            results = grant_targets(targets, space, make_default=options["make_default"])
        return {
            "spaceId": space.id,
            "key": space.key,
            "name": space.name,
            "created": existing is None,
            "grants": [
                {
                    "keyId": result.grant.api_key.id,
                    "keyPrefix": result.grant.api_key.key_prefix,
                    "email": result.grant.api_key.user.email,
                    "granted": result.granted.wire,
                    "effective": result.effective.wire,
                    "isDefault": result.grant.is_default,
                    "existed": result.existed,
                    "becameMember": result.became_member,
                    "revoked": result.grant.api_key.revoked_at is not None,
                }
                for result in results
            ],
        }

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        verb = "Created space" if result["created"] else "Space exists:"
        lines = [f"{verb} {result['name']} ({result['key']})."]
        for grant in result["grants"]:
            notes = [grant["effective"]]
            if grant["effective"] != grant["granted"]:
                notes.append("capped by role or membership")
            if grant["existed"]:
                notes.append("had it already, level kept")
            if grant["isDefault"]:
                notes.append("active space")
            if grant["becameMember"]:
                notes.append("its owner became a member")
            if grant["revoked"]:
                notes.append("the key is revoked")
            lines.append(f"  {grant['keyPrefix']}… of {grant['email']}: {', '.join(notes)}")
        return lines
