"""Unified diffs are those of git, and bounded for any text."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from history.diffs import MAXIMUM_DIFF_LINES, MAXIMUM_LINE, opcodes, unified
from history.tests import git

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", " ", "ä", "a\rb", "\x0cd"]), max_size=40).map("\n".join)


def applied(old, diff):
    """What real git makes of `old` with the diff."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git.run(root, "init", "-q")
        if old is not None:
            (root / "f").write_bytes(old.encode())
        git.run(root, "apply", "--unidiff-zero", "--whitespace=nowarn", "-", stdin=diff.text.encode())
        return (root / "f").read_bytes().decode() if (root / "f").exists() else None


@settings(max_examples=60, deadline=None)
@given(old=TEXTS, new=TEXTS)
def test_git_applies_any_diff(old, new):
    diff = unified("f", old, new)
    if old == new:
        assert (diff.text.count("\n"), diff.added, diff.removed) == (2, 0, 0)
    else:
        assert applied(old, diff) == new


def test_new_and_deleted_files_name_the_null_device():
    assert applied(None, unified("f", None, "a\nb")) == "a\nb"
    assert applied("a\nb", unified("f", "a\nb", None)) is None


def test_a_hunk_has_three_lines_of_context_and_near_ones_are_joined():
    old = [str(number) for number in range(40)]
    new = list(old)
    new[10], new[16], new[30] = "ten", "sixteen", "thirty"
    diff = unified("f", "\n".join(old) + "\n", "\n".join(new) + "\n")
    assert [line for line in diff.text.splitlines() if line.startswith("@@")] == [
        "@@ -8,13 +8,13 @@",
        "@@ -28,7 +28,7 @@",
    ]


def test_long_diffs_and_long_lines_are_cut_and_say_so():
    many = unified("f", None, "x\n" * 50_000)
    assert (many.added, many.is_cut, many.text.count("\n")) == (50_000, True, MAXIMUM_DIFF_LINES)
    wide = unified("f", None, "x" * 1_000_000)
    assert wide.is_cut
    assert len(wide.text) < 2 * MAXIMUM_LINE


def test_texts_without_a_common_end_are_not_compared_line_by_line_beyond_a_bound():
    old = [f"{number % 2}" for number in range(20_000)]
    assert opcodes(old, ["start", *old[::-1], "end"]) == [("replace", 0, 20_000, 0, 20_002)]
