"""Comparing texts by lines: unified diffs, and which line came from where. Bounded, whatever the texts are."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Lines that differ at both ends are compared line by line while old times new lines stay below this; beyond it the
# whole stretch counts as replaced, which is true as well and takes no time.
_MOST_PAIRS = 1_000_000
_CONTEXT = 3
MAXIMUM_DIFF_LINES = 2000
MAXIMUM_LINE = 2000
_NO_NEWLINE = "\\ No newline at end of file"

Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class FileDiff:
    """How one file differs, as a unified diff, with the lines added and removed; `is_cut`: not all of it is shown."""

    path: str
    text: str
    added: int
    removed: int
    is_cut: bool = False


def split_lines(text: str) -> list[str]:
    """Lines as git counts them: ended by a line feed and by nothing else."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """What turns `old` into `new`: stretches that are equal, replaced, deleted or inserted, as difflib tells them."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[len(old) - 1 - end] == new[len(new) - 1 - end]:
        end += 1
    middle = _middle(old[start : len(old) - end], new[start : len(new) - end], start)
    codes: list[Opcode] = [("equal", 0, start, 0, start)] if start else []
    codes += middle
    if end:
        codes.append(("equal", len(old) - end, len(old), len(new) - end, len(new)))
    return codes


def _middle(old: Sequence[str], new: Sequence[str], start: int) -> list[Opcode]:
    if not old and not new:
        return []
    if not old or not new or len(old) * len(new) > _MOST_PAIRS:
        kind = "insert" if not old else "delete" if not new else "replace"
        return [(kind, start, start + len(old), start, start + len(new))]
    found = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in found]


def unified(path: str, old: str | None, new: str | None) -> FileDiff:
    """The unified diff of one file; None stands for "no such file"."""
    before, after = _lines(old), _lines(new)
    codes = opcodes(before, after)
    added = sum(d - c for kind, _, _, c, d in codes if kind != "equal")
    removed = sum(b - a for kind, a, b, _, _ in codes if kind != "equal")
    lines = [f"--- {'/dev/null' if old is None else 'a/' + path}", f"+++ {'/dev/null' if new is None else 'b/' + path}"]
    for group in _groups(codes):
        lines += _hunk(group, before, after)
        if len(lines) > MAXIMUM_DIFF_LINES:
            break
    is_cut = len(lines) > MAXIMUM_DIFF_LINES or any(len(line) > MAXIMUM_LINE for line in lines)
    shown = [line if len(line) <= MAXIMUM_LINE else line[: MAXIMUM_LINE - 1] + "…" for line in lines]
    return FileDiff(path, "\n".join([*shown[:MAXIMUM_DIFF_LINES], ""]), added, removed, is_cut)


def _lines(text: str | None) -> list[str]:
    """Lines with what is special about the last one in it, so that a missing line feed is a difference."""
    if not text:
        return []
    lines = split_lines(text)
    if not text.endswith("\n"):
        lines[-1] += "\n" + _NO_NEWLINE
    return lines


def _groups(codes: Sequence[Opcode]) -> list[list[Opcode]]:
    """Differences that lie closer together than their context share a hunk."""
    groups: list[list[Opcode]] = [[]]
    last = len(codes) - 1
    for number, (kind, a, b, c, d) in enumerate(codes):
        if kind != "equal":
            groups[-1].append((kind, a, b, c, d))
            continue
        tail = head = min(_CONTEXT, b - a)
        if number == 0:
            groups[-1].append((kind, b - head, b, d - head, d))
        elif number == last:
            groups[-1].append((kind, a, a + tail, c, c + tail))
        elif b - a <= 2 * _CONTEXT:
            groups[-1].append((kind, a, b, c, d))
        else:
            groups[-1].append((kind, a, a + tail, c, c + tail))
            groups.append([(kind, b - head, b, d - head, d)])
    return [group for group in groups if any(kind != "equal" for kind, *_ in group)]


def _hunk(group: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> list[str]:
    lines = [f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@"]
    for kind, a, b, c, d in group:
        if kind == "equal":
            lines += [" " + line for line in old[a:b]]
        else:
            lines += ["-" + line for line in old[a:b]]
            lines += ["+" + line for line in new[c:d]]
    return lines


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
