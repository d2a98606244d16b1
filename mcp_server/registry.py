"""The tools of the server, each declared where its function stands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from mcp_types import Tool as ListedTool
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from core.wire import WireModel
from mcp_server.parameters import Parameter, input_schema


@dataclass(frozen=True)
class ListAnswer:
    """A list that may go on, or of which something must be said: `remark` is a sentence beside it for the agent."""

    items: Sequence[WireModel]
    next_cursor: str | None = None
    remark: str | None = None


# What a tool gives back: one shape, or a list of them.
Answer = WireModel | Sequence[WireModel] | ListAnswer


class Toolset(StrEnum):
    """A group of tools that a client can choose."""

    MEMORY = "memory"
    NOTES = "notes"


@dataclass(frozen=True)
class Tool:
    """A tool: how it is shown, and the function that does it (access first, then its parameters by name)."""

    name: str
    title: str
    description: str
    function: Callable[..., Answer]
    parameters: tuple[Parameter, ...]
    output: type[BaseModel]
    list_name: str | None
    toolset: Toolset
    annotations: ToolAnnotations = field(repr=False)

    @cached_property
    def listed(self) -> ListedTool:
        """The definition that clients see; made once, since the SDK asks for it with every call."""
        return ListedTool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=input_schema(self.parameters),
            output_schema=output_schema(self.output, self.list_name),
            annotations=self.annotations,
        )


TOOLS: dict[str, Tool] = {}


def tool(
    *parameters: Parameter,
    title: str,
    output: type[BaseModel],
    list_name: str | None = None,
    toolset: Toolset = Toolset.MEMORY,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Register a function as a tool under its own name; its docstring is what agents read.

    A tool that returns a list names it in `list_name`: structured content must be an object.
    """

    def register(function: Callable[..., Answer]) -> Callable[..., Answer]:
        TOOLS[function.__name__] = Tool(
            name=function.__name__,
            title=title,
            description=" ".join((function.__doc__ or "").split()),
            function=function,
            parameters=parameters,
            output=output,
            list_name=list_name,
            toolset=toolset,
            annotations=ToolAnnotations(
                title=title,
                read_only_hint=read_only,
                destructive_hint=destructive,
                idempotent_hint=read_only or idempotent,
                open_world_hint=False,
            ),
        )
        return function

    return register


def output_schema(model: type[BaseModel], list_name: str | None) -> dict[str, Any]:
    """The schema of a tool's structured content, flat: definitions put in place, "or null" left out, no titles."""
    is_plain = issubclass(model, WireModel) and model.is_plain
    schema = model.model_json_schema(by_alias=not is_plain, mode="serialization")
    flat: dict[str, Any] = _flatten(schema, schema.get("$defs", {}), keeps_nulls=is_plain)
    if list_name is None:
        return flat
    properties = {list_name: {"type": "array", "items": flat}, "next_cursor": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": [list_name]}


def _flatten(node: Any, definitions: dict[str, Any], *, keeps_nulls: bool) -> Any:
    def flattened(part: Any) -> Any:
        return _flatten(part, definitions, keeps_nulls=keeps_nulls)

    if isinstance(node, list):
        return [flattened(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return flattened(definitions[node["$ref"].rsplit("/", 1)[-1]])
    if "anyOf" in node:
        (only,) = [option for option in node["anyOf"] if option.get("type") != "null"]
        # Without a type it may be null: clients check what they get, and lists of types are not understood by all.
        return {"description": f"{flattened(only).get('type')} or null"} if keeps_nulls else flattened(only)
    flat = {
        name: {key: flattened(item) for key, item in value.items()} if name == "properties" else flattened(value)
        for name, value in node.items()
        if name not in ("$defs", "default") and not (name == "title" and isinstance(value, str))
    }
    if "properties" in flat:
        # Null fields are dropped on the wire, so what may be null may be missing.
        missing = set() if keeps_nulls else {name for name, value in node["properties"].items() if _may_be_null(value)}
        required = [name for name in node["properties"] if name not in missing]
        flat |= {"required": required} if required else {}
    return flat


def _may_be_null(node: dict[str, Any]) -> bool:
    return any(option.get("type") == "null" for option in node.get("anyOf", ()))
