"""Arguments of tools: whatever JSON comes in is either understood or refused in one sentence."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Invalid
from mcp_server.parameters import Parameter, parse_arguments
from mcp_server.tools import TOOLS

NUMBER = Parameter("number", "integer", "A number.", default=10)
SWITCH = Parameter("switch", "boolean", "A switch.", default=True)
NEEDED = Parameter("needed", "string", "A text.", required=True)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KINDS = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
NAMES = sorted({parameter.name for tool in TOOLS.values() for parameter in tool.parameters})


# How fast a busy machine draws inputs is not what is tested.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    tool=st.sampled_from(sorted(TOOLS)),
    arguments=st.dictionaries(st.sampled_from(NAMES) | st.text(st.characters(), max_size=80), JSON, max_size=6),
)
def test_any_arguments_are_understood_or_refused_in_one_sentence(tool: str, arguments: dict[str, Any]):
    parameters = TOOLS[tool].parameters
    refusal, parsed = outcome(parameters, arguments)
    if refusal is not None:
        assert len(refusal) < 800
        assert refusal.endswith(".")
        return
    assert set(parsed) == {parameter.name for parameter in parameters}
    for parameter in parameters:
        assert parsed[parameter.name] is None or isinstance(parsed[parameter.name], KINDS[parameter.kind])


def outcome(parameters: Sequence[Parameter], arguments: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    try:
        return None, parse_arguments(parameters, arguments)
    except Invalid as error:
        return error.message, {}


@pytest.mark.parametrize(("sent", "understood"), [(5, 5), ("5", 5), (" -3 ", -3), (5.0, 5), (None, 10), ("0", 0)])
def test_whole_numbers_may_come_as_text(sent: Any, understood: int):
    assert parse_arguments([NUMBER], {"number": sent}) == {"number": understood}


@pytest.mark.parametrize(
    "sent", [True, "", "five", "5.5", 5.5, [5], {"5": 5}, 2**31, "9" * 4000, "٣", "--5", float("inf"), float("nan")]
)
def test_what_is_no_whole_number_is_refused(sent: Any):
    with pytest.raises(Invalid, match=r"^number must be a whole number\.$"):
        parse_arguments([NUMBER], {"number": sent})


@pytest.mark.parametrize(("sent", "understood"), [(False, False), ("false", False), (" True", True), (None, True)])
def test_true_and_false_may_come_as_text(sent: Any, understood: bool):
    assert parse_arguments([SWITCH], {"switch": sent}) == {"switch": understood}


@pytest.mark.parametrize("sent", [0, 1, "1", "yes", "", [], "[true]", "NaN", "[" * 5000])
def test_what_is_neither_true_nor_false_is_refused(sent: Any):
    with pytest.raises(Invalid, match=r"^switch must be true or false\.$"):
        parse_arguments([SWITCH], {"switch": sent})


@pytest.mark.parametrize("arguments", [{}, {"needed": None}])
def test_what_is_needed_must_be_given(arguments: dict[str, Any]):
    with pytest.raises(Invalid, match=r"^needed is required\.$"):
        parse_arguments([NEEDED], arguments)


def test_every_unknown_argument_is_named_with_what_is_allowed():
    with pytest.raises(Invalid, match=r"^Unknown argument: colour, size; allowed are needed, number\.$"):
        parse_arguments([NEEDED, NUMBER], {"needed": "x", "size": 1, "colour": 2})
