"""Definitions that every client understands."""

from typing import Any

import pytest

from mcp_server.registry import Toolset
from mcp_server.resources import RESOURCES
from mcp_server.tools import TOOLS


def nodes(schema: Any):
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_schemas_are_flat(tool):
    listed = tool.listed
    for schema in (listed.input_schema, listed.output_schema):
        assert schema["type"] == "object"
        for node in nodes(schema):
            assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf"} & set(node)
            assert not isinstance(node.get("type"), list)
            assert node.get("required") != []
    assert listed.input_schema["additionalProperties"] is False


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_every_tool_and_parameter_is_described(tool):
    assert len(tool.name) <= 64
    assert tool.title
    assert 40 < len(tool.description) < 600
    assert all(parameter.description.endswith(".") for parameter in tool.parameters)
    hints = tool.annotations
    assert hints.read_only_hint is not None
    assert hints.open_world_hint is False
    assert not (hints.read_only_hint and hints.destructive_hint)


def test_tools_of_a_toolset_stay_few():
    for toolset in Toolset:
        assert 0 < sum(tool.toolset is toolset for tool in TOOLS.values()) <= 20


@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS.values() if tool.toolset is Toolset.NOTES], ids=lambda t: t.name
)
def test_notes_keep_the_names_of_memory_service(tool):
    assert tool.name.startswith("memory_")
    assert tool.list_name in (None, "result")
    names = {name for node in nodes(tool.listed.output_schema) for name in node.get("properties", {})}
    assert all(name == name.lower() for name in names)


def test_every_resource_is_described():
    for resource in RESOURCES.values():
        assert resource.title
        assert resource.description.endswith(".")
