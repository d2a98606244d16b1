"""Parameters of tools: declared once, shown as a flat JSON schema, parsed with one clear sentence for each mistake.

Clients differ in what they understand and send: schemas hold no `$ref`, `anyOf` or type lists; an explicit null means
"not given"; numbers, booleans and null sent as text are accepted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import Invalid
from core.text import excerpt

Kind = Literal["string", "integer", "boolean"]
_NAMED = {"string": "text", "integer": "a whole number", "boolean": "true or false"}
# Past this, a number is no number anybody means; PostgreSQL's integers end here too.
_LARGEST_INTEGER = 2**31 - 1
_WHOLE_NUMBER = re.compile(r"\s*-?[0-9]{1,10}\s*")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool. Without a default (`required`) it must be given."""

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": self.kind, "description": self.description}
        if self.default is not None:
            schema["default"] = self.default
        if self.choices:
            schema["enum"] = list(self.choices)
        return schema

    def parse(self, value: Any) -> Any:
        """Raises `Invalid` when `value` is not of this kind."""
        if self.kind == "integer":
            value = _integer(value)
        elif self.kind == "boolean":
            value = _boolean(value)
        if not isinstance(value, {"string": str, "integer": int, "boolean": bool}[self.kind]):
            raise Invalid(f"{self.name} must be {_NAMED[self.kind]}.")
        return value


def input_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {parameter.name: parameter.schema() for parameter in parameters},
        "additionalProperties": False,
    }
    required = [parameter.name for parameter in parameters if parameter.required]
    if required:
        schema["required"] = required
    return schema


def parse_arguments(parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by name, with defaults filled in. Raises `Invalid` for unknown, missing and wrong ones."""
    known = {parameter.name for parameter in parameters}
    unknown = sorted(set(arguments) - known)
    if unknown:
        allowed = f"allowed are {', '.join(sorted(known))}" if known else "this tool takes none"
        named = ", ".join(excerpt(name, 60) for name in unknown[:5])
        raise Invalid(f"Unknown argument: {named}; {allowed}.")
    parsed: dict[str, Any] = {}
    for parameter in parameters:
        value = arguments.get(parameter.name)
        if value is None:
            if parameter.required:
                raise Invalid(f"{parameter.name} is required.")
            parsed[parameter.name] = parameter.default
        else:
            parsed[parameter.name] = parameter.parse(value)
    return parsed


def _integer(value: Any) -> Any:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = int(value) if _WHOLE_NUMBER.fullmatch(value) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and abs(value) <= _LARGEST_INTEGER else None


def _boolean(value: Any) -> Any:
    return _BOOLEANS.get(value.strip().lower()) if isinstance(value, str) else value
