from collections.abc import Mapping
from typing import Any

from core.commands import ServiceCommand
from memory_site.services import demo


class Command(ServiceCommand):
    help = "Fill an installation without people: an administrator, two people with keys, two spaces, a few memories."

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        made = demo()
        if made is None:
            return {"created": False}
        return {
            "created": True,
            "administrator": {"email": made.administrator.email, "password": made.password},
            "keys": [
                {"email": seeded.user.email, "role": seeded.user.role, "key": seeded.secret} for seeded in made.keys
            ],
        }

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        if not result["created"]:
            return ["There are people already, so no demo was made."]
        lines = [
            "",
            "    Shown only this once:",
            "",
            f"    Admin login       {result['administrator']['email']}",
            f"    Admin password    {result['administrator']['password']}",
        ]
        for key in result["keys"]:
            lines.append(f"    {key['role']} key        {key['key']}")
        return [*lines, ""]
