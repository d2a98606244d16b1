"""Parameters of tools: declared once, shown as a flat JSON schema, parsed with one clear sentence for each mistake.

Clients differ in what they understand and send: schemas hold no `$ref`, `anyOf` or type lists; an explicit null means
"not given"; numbers, booleans and lists sent as text are accepted.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import Invalid
from core.text import excerpt

Kind = Literal["string", "integer", "number", "boolean", "array"]
_NAMED = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
}
_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
# Past this, a number is no number anybody means; PostgreSQL's integers end here too.
_LARGEST_INTEGER = 2**31 - 1
_WHOLE_NUMBER = re.compile(r"\s*-?[0-9]{1,10}\s*")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool. Without a default (`required`) it must be given.

    An array holds texts, or objects that have all of `fields`, each a text.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": self.kind, "description": self.description}
        if self.default is not None:
            schema["default"] = self.default
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.kind == "array":
            schema["items"] = self._item_schema()
        return schema

    def _item_schema(self) -> dict[str, Any]:
        if not self.fields:
            return {"type": "string"}
        return {
            "type": "object",
            "properties": {field: {"type": "string"} for field in self.fields},
            "required": list(self.fields),
            "additionalProperties": False,
        }

    def parse(self, value: Any) -> Any:
        """Raises `Invalid` when `value` is not of this kind."""
        if self.kind == "integer":
            value = _integer(value)
        elif self.kind == "number":
            value = _number(value)
        elif self.kind == "boolean":
            value = _boolean(value)
        elif self.kind == "array":
            value = _array(value)
        if not isinstance(value, _TYPES[self.kind]):
            raise Invalid(f"{self.name} must be {_NAMED[self.kind]}{self._of_what}.")
        if isinstance(value, list) and not all(self._is_item(item) for item in value):
            raise Invalid(f"{self.name} must be {_NAMED[self.kind]}{self._of_what}.")
        return value

    @property
    def _of_what(self) -> str:
        if self.kind != "array":
            return ""
        return f" of objects with {' and '.join(self.fields)}, each a text" if self.fields else " of texts"

    def _is_item(self, item: Any) -> bool:
        if not self.fields:
            return isinstance(item, str)
        return (
            isinstance(item, dict)
            and set(item) == set(self.fields)
            and all(isinstance(value, str) for value in item.values())
        )


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


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _array(value: Any) -> Any:
    """A list, also one that was sent as JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _boolean(value: Any) -> Any:
    return _BOOLEANS.get(value.strip().lower()) if isinstance(value, str) else value
