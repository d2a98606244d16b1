"""`docs/mcp.md` names every tool with its parameters and defaults, every resource and the prompt, and no others."""

import re
from pathlib import Path

from mcp_server import prompts
from mcp_server.resources import RESOURCES
from mcp_server.tools import TOOLS

TEXT = (Path(__file__).resolve().parents[2] / "docs/mcp.md").read_text()
ROWS = {cells[0].strip("` "): cells for line in TEXT.splitlines() if (cells := line.strip("|").split("|"))[1:]}


def test_every_tool_has_a_row_with_its_parameters():
    assert set(TOOLS) <= set(ROWS)
    same = {"listDocuments": "listMemories"}
    for name, tool in TOOLS.items():
        cell = ROWS[same.get(name, name)][2]
        assert [parameter.name for parameter in tool.parameters] == [
            named for named in re.findall(r"`(\w+)`", cell) if named not in ("save", "forget")
        ]
        for parameter in tool.parameters:
            if parameter.default is not None:
                default = str(parameter.default).lower()
                assert re.search(rf"`{parameter.name}` = `?{default}\b", cell), (name, parameter.name)


def test_every_resource_and_the_prompt_are_named():
    assert set(RESOURCES) == {name for name in ROWS if name.startswith("memory-mcp://")}
    assert f"The prompt `{prompts.NAME}`" in TEXT
