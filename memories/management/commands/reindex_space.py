from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ServiceCommand
from memories.services.reindex import reindex_words
from spaces.services.provisioning import get_space


class Command(ServiceCommand):
    help = "Build the word index of one space anew. Searches go on meanwhile; saves in this space wait."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--key", required=True, help="the space")

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        space = get_space(options["key"])
        return {"key": space.key, "language": space.language, "memories": reindex_words(space)}

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        return [f"Indexed {result['memories']:,} memories of {result['key']} ({result['language']})."]
