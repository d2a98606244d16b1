from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from accounts.models import Role
from accounts.services.users import create_user
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Create a person. They act through API keys; a password for the admin is set with changepassword."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--email", required=True, help="the login, in any case")
        parser.add_argument("--name", help="shown as author; the e-mail address when left out")
        parser.add_argument("--role", default=Role.WRITER.value, help="Writer (default) or Reader")

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        user = create_user(email=options["email"], display_name=options["name"], role=options["role"])
        return {"userId": user.id, "email": user.email, "displayName": user.display_name, "role": user.role}

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        return [f"Created {result['displayName']} <{result['email']}>, {result['role']}, id {result['userId']}."]
