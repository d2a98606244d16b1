from collections.abc import Mapping
from typing import Any

from core.commands import ServiceCommand
from memories.search.index import maintain_indexes


class Command(ServiceCommand):
    help = "Build the vector indexes that large spaces need, and drop those that nothing uses. Safe at any time."

    def perform(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return {"done": maintain_indexes()}

    def describe(self, result: Mapping[str, Any]) -> list[str]:
        return [f"{line[0].upper()}{line[1:]}." for line in result["done"]] or ["Nothing to do."]
