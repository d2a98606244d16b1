from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from accounts.services.users import get_user
from core.commands import ServiceCommand
from core.errors import Invalid
from spaces.services.provisioning import RequestedGrant, create_api_key, get_space, split_level


class Command(ServiceCommand):
    help = "Create an API key for a person; the key is printed once and cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--email", required=True, help="the person it belongs to")
        parser.add_argument(
            "--space",
            action="append",
            default=[],
            metavar="KEY[:Read|ReadWrite]",
            help="a space it can use, ReadWrite when no level is given; repeat for several",
        )
        parser.add_argument("--default-space", metavar="KEY", help="its active space; the first one when left out")
        parser.add_argument("--label", help="which credential this is: laptop, ci, the name of an agent")
        parser.add_argument("--expires", metavar="DATE|DAYS", help="an ISO date or time, or a number of days from now")

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        user = get_user(options["email"])
        requested = [split_level(text) for text in options["space"]]
        default = options["default_space"]
        grants = [RequestedGrant(get_space(key), level) for key, level in requested]
        new = create_api_key(
            user,
            grants=grants,
            default=get_space(default) if default else None,
            label=options["label"],
            expires_at=_moment(options["expires"]),
        )
        return {
            "keyId": new.key.id,
            "key": new.secret,
            "email": user.email,
            "active": user.is_active,
            "expiresAt": new.key.expires_at.isoformat() if new.key.expires_at else None,
            "spaces": [
                {
                    "key": result.grant.space.key,
                    "granted": result.granted.wire,
                    "effective": result.effective.wire,
                    "isDefault": result.grant.is_default,
                    "becameMember": result.became_member,
                }
                for result in new.grants
            ],
        }

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        lines = [f"Key {result['keyId']} of {result['email']}, shown only this once:", f"  {result['key']}"]
        for space in result["spaces"]:
            notes = [space["effective"]]
            if space["effective"] != space["granted"]:
                notes.append(f"capped by the role, granted was {space['granted']}")
            if space["isDefault"]:
                notes.append("active space")
            if space["becameMember"]:
                notes.append("its owner became a member")
            lines.append(f"  {space['key']}: {', '.join(notes)}")
        if not result["spaces"]:
            lines.append("  It reaches no space yet: grant one with create_space or in the admin.")
        if not result["active"]:
            lines.append("  Its owner is deactivated, so it does not authenticate until they are reactivated.")
        return lines


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    if text.isascii() and text.isdecimal() and len(text) < 6:
        return timezone.now() + timedelta(days=int(text))
    try:
        day = parse_date(text)
        moment = datetime.combine(day, time.max) if day else parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None:
        raise Invalid(
            "--expires must be a date such as 2027-01-31, a time such as 2027-01-31T12:00, or a number of days."
        )
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)
