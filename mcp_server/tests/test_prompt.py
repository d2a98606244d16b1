"""The `context` prompt: the active space, its newest memories, the other spaces by their last activity."""

from datetime import UTC, datetime, timedelta

import pytest

from mcp_server.prompts import context_text
from memories.services.forget import forget_by_id
from memories.tests.factories import make_access, make_space, remember

pytestmark = pytest.mark.django_db

DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_it_names_the_space_and_lists_the_five_newest_active_memories_newest_first():
    access = make_access("kitchen")
    for number in range(7):
        remember(access, f"Fact {number}.", at=DAY + timedelta(days=number))
    forget_by_id(access, str(remember(access, "Forgotten.").id))
    lines = context_text(access).splitlines()
    assert lines[0] == 'Active memory space: "kitchen" (kitchen)'
    assert [line for line in lines if line.startswith("- ")] == [f"- Fact {number}." for number in (6, 5, 4, 3, 2)]


def test_an_empty_space_says_so_and_a_single_space_names_no_others():
    text = context_text(make_access("empty"))
    assert text == 'Active memory space: "empty" (empty)\n\nThis space has no memories yet.'


def test_other_spaces_come_by_their_last_activity_and_only_three_of_them():
    access = make_access("active", "older", "quiet", "newest", "oldest")
    remember(access, "x", container_tag="older", at=DAY)
    remember(access, "x", container_tag="oldest", at=DAY - timedelta(days=1))
    forget_by_id(access, str(remember(access, "x", container_tag="newest", at=DAY + timedelta(days=1)).id))
    assert [line for line in context_text(access).splitlines() if line.startswith('- "')] == [
        '- "newest" (newest) — last activity 2026-03-02',
        '- "older" (older) — last activity 2026-03-01',
        '- "oldest" (oldest) — last activity 2026-02-28',
    ]


def test_spaces_without_memories_are_listed_last_in_the_order_of_their_grants():
    access = make_access("active", "quiet", "silent", "busy")
    remember(access, "x", container_tag="busy", at=DAY)
    assert [line.split('"')[1] for line in context_text(access).splitlines() if line.startswith('- "')] == [
        "busy",
        "quiet",
        "silent",
    ]


def test_it_costs_two_queries_whatever_the_number_of_spaces(django_assert_num_queries):
    access = make_access(*(make_space() for _ in range(8)))
    for space in access.spaces:
        remember(access, "x", container_tag=space.key)
    with django_assert_num_queries(2):
        context_text(access)


def test_a_long_memory_shows_its_beginning_on_one_line():
    access = make_access()
    remember(access, "First line.\n\nSecond line. " + "x" * 5000)
    (line,) = [line for line in context_text(access).splitlines() if line.startswith("- ")]
    assert line.startswith("- First line. Second line. xxx")
    assert len(line) < 1100
    assert line.endswith("…")
