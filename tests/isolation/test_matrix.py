"""Every surface × every kind of outsider: what is not theirs is not shown, counted or changed."""

import json
import re
from pathlib import Path

import pytest

from tests.isolation.outsiders import OUTSIDERS, Outsider
from tests.isolation.surfaces import SURFACES
from tests.test_leaks import assert_shows_nothing, owned

pytestmark = [pytest.mark.leaks, pytest.mark.slow]
PAGE = Path(__file__).resolve().parent.parent.parent / "docs/isolation.md"
_WORDS = {"nothing": "sees nothing", "no_key": "is refused", "reads": "reads, changes nothing"}


def by_kind(sees: str) -> list[Outsider]:
    return [outsider for outsider in OUTSIDERS if outsider.sees == sees]


@pytest.mark.parametrize("outsider", by_kind("nothing"), ids=lambda outsider: outsider.name)
def test_whoever_is_not_in_the_space_sees_nothing_of_it(site, outsider):
    secret = owned()
    key = outsider.key(secret.space)
    before = secret.snapshot()
    for name, attempts in SURFACES.items():
        for answer in attempts(site, key, secret):
            assert answer.status < 500, name
            assert_shows_nothing(answer.text, answer.sent, secret)
            sent = json.dumps(answer.sent, default=str)
            if any(part in sent for part in (secret.space.key, str(secret.memory.id), secret.document_id)):
                assert answer.is_refusal, (name, answer.sent)
    assert secret.snapshot() == before


@pytest.mark.parametrize("outsider", by_kind("no_key"), ids=lambda outsider: outsider.name)
def test_a_key_that_ended_is_no_key(site, outsider):
    secret = owned()
    key = outsider.key(secret.space)
    before = secret.snapshot()
    for name, attempts in SURFACES.items():
        for answer in attempts(site, key, secret):
            assert answer.status == 401, (name, answer.sent)
            assert_shows_nothing(answer.text, answer.sent, secret)
    assert secret.snapshot() == before


@pytest.mark.parametrize("outsider", by_kind("reads"), ids=lambda outsider: outsider.name)
def test_whoever_may_read_changes_nothing(site, outsider):
    secret = owned()
    key = outsider.key(secret.space)
    before = secret.snapshot()
    shown = False
    for name, attempts in SURFACES.items():
        for answer in attempts(site, key, secret):
            assert answer.status < 500, name
            shown = shown or secret.memory.text in answer.text
            assert secret.snapshot() == before, (name, answer.sent)
    assert shown


def table() -> str:
    """The table of the documentation."""
    head = ("MCP tools", "MCP resources", "MCP prompt", "REST routes", "git")
    lines = [f"| who | {' | '.join(head)} |", f"|---|{'---|' * len(head)}"]
    lines += [f"| {outsider.name} | {' | '.join([_WORDS[outsider.sees]] * len(head))} |" for outsider in OUTSIDERS]
    return "\n".join(lines)


def test_the_table_of_the_documentation_is_this_matrix():
    found = re.search(r"<!-- surfaces -->\n(.*?)\n<!-- end -->", PAGE.read_text(), re.DOTALL)
    assert found is not None
    assert found.group(1) == table(), f"docs/isolation.md must say:\n{table()}"
