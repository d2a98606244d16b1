"""Reading order from word positions: columns are read one after the other, rows of a table stay together.

The page is walked from top to bottom in rows. As long as one white gap runs through consecutive rows and prose stands
on both sides of it, they are columns; a row that crosses the gap (a heading, a full-width paragraph) ends them.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# A gutter is at least this wide: wider than the widest justified blank, narrower than any column gap in use (12–24 pt).
MINIMUM_GUTTER = 9.0
# Shorter runs of rows are too little to tell columns from words that happen to line up.
_FEWEST_ROWS = 3
# The lines of a column begin within a paragraph indent of each other; what begins further left crosses the gutter.
_INDENT = 24.0
# Prose has more words in a line than a table cell or a list number.
_PROSE_WORDS = 2.5

Gap = tuple[float, float]


@dataclass(frozen=True)
class Word:
    """A word and its box in points; `top` and `bottom` count downwards from the top of the page."""

    text: str
    left: float
    right: float
    top: float
    bottom: float


Row = list[Word]


def may_have_columns(starts: Sequence[tuple[float, float]]) -> bool:
    """Cheap question to the places where pieces of text begin: might this page have several columns?

    Yes, when pieces begin well apart from each other on several heights. A wrong yes only costs a closer look.
    """
    if len(starts) < 2 * _FEWEST_ROWS:
        return False
    leftmost = min(x for x, _ in starts)
    rightmost = max(x for x, _ in starts)
    if rightmost - leftmost < 72:
        return False
    left = [y for x, y in starts if x < leftmost + 36]
    right = [y for x, y in starts if x > leftmost + 108]
    if len(left) < _FEWEST_ROWS or len(right) < _FEWEST_ROWS:
        return False
    return max(min(left), min(right)) <= min(max(left), max(right))


def reading_order(words: Sequence[Word]) -> str:
    """The words as text: lines of a column joined by line breaks, blocks by a blank line."""
    blocks = [_lines(block) for run in _runs(_rows(words)) for block in _columns(run)]
    return "\n\n".join(block for block in blocks if block)


def _rows(words: Sequence[Word]) -> list[Row]:
    """Words grouped by the line they stand on, top to bottom, left to right."""
    rows: list[Row] = []
    for word in sorted(words, key=lambda word: ((word.top + word.bottom) / 2, word.left)):
        middle = (word.top + word.bottom) / 2
        if rows and rows[-1][0].top <= middle <= rows[-1][0].bottom:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word.left) for row in rows]


def _runs(rows: Sequence[Row]) -> list[tuple[list[Row], list[Gap]]]:
    """Consecutive rows that share at least one gap, with the gaps they share, and the rows between as they are."""
    runs: list[tuple[list[Row], list[Gap]]] = []
    start = 0
    while start < len(rows):
        end, gaps = _longest_run(rows, start)
        end = _first_crossing(rows, start, end, gaps)
        if end > start and gaps and _are_columns(rows[start:end], gaps):
            runs.append((list(rows[start:end]), gaps))
            start = end
        else:
            if runs and not runs[-1][1]:
                runs[-1][0].append(rows[start])
            else:
                runs.append(([rows[start]], []))
            start += 1
    return runs


def _longest_run(rows: Sequence[Row], start: int) -> tuple[int, list[Gap]]:
    gaps: list[Gap] = [(float("-inf"), float("inf"))]
    held: list[Gap] = []
    end = start
    for index in range(start, len(rows)):
        gaps = _intersect(gaps, _free(rows[index]))
        inner = _inner(gaps, rows[start : index + 1])
        if index > start and not inner and held:
            break
        if not gaps:
            break
        held, end = inner, index + 1
    return end, held


def _first_crossing(rows: Sequence[Row], start: int, end: int, gaps: Sequence[Gap]) -> int:
    """Where a run really ends: before the first row that only seems to keep to the columns, as a centred heading."""
    for gap in gaps:
        begins = [next((word.left for word in row if word.left >= gap[1]), None) for row in rows[start:end]]
        known = [begin for begin in begins if begin is not None]
        usual = median(known) if known else 0.0
        for index, begin in enumerate(begins):
            if begin is not None and begin < usual - _INDENT:
                end = min(end, start + index)
                break
    return end


def _free(row: Row) -> list[Gap]:
    """The intervals of the line that no word of this row covers."""
    free: list[Gap] = []
    left = float("-inf")
    for word in row:
        if word.left - left >= MINIMUM_GUTTER:
            free.append((left, word.left))
        left = max(left, word.right)
    free.append((left, float("inf")))
    return free


def _intersect(first: Sequence[Gap], second: Sequence[Gap]) -> list[Gap]:
    shared = [(max(a[0], b[0]), min(a[1], b[1])) for a in first for b in second]
    return [gap for gap in shared if gap[1] - gap[0] >= MINIMUM_GUTTER]


def _inner(gaps: Sequence[Gap], rows: Sequence[Row]) -> list[Gap]:
    """Gaps with text on both sides, not the margins."""
    left = min(row[0].left for row in rows)
    right = max(word.right for row in rows for word in row)
    return [gap for gap in gaps if gap[0] >= left and gap[1] <= right]


def _are_columns(rows: Sequence[Row], gaps: Sequence[Gap]) -> bool:
    sides = _split(rows, gaps)
    return all(
        len(side) >= _FEWEST_ROWS and sum(len(row) for row in side) / len(side) >= _PROSE_WORDS for side in sides
    )


def _split(rows: Sequence[Row], gaps: Sequence[Gap]) -> list[list[Row]]:
    """The rows of each column, left to right."""
    middles = sorted((left + right) / 2 for left, right in gaps)
    edges = [float("-inf"), *middles, float("inf")]
    sides = []
    for low, high in itertools.pairwise(edges):
        parts = ([word for word in row if low <= word.left < high] for row in rows)
        sides.append([part for part in parts if part])
    return sides


def _columns(run: tuple[list[Row], list[Gap]]) -> list[list[Row]]:
    rows, gaps = run
    return _split(rows, gaps) if gaps else [rows]


def _lines(rows: Sequence[Row]) -> str:
    lines: list[str] = []
    previous: Row | None = None
    for row in rows:
        # A clearly larger step than the line height is a paragraph.
        if previous is not None and row[0].top - previous[0].bottom > 0.9 * (previous[0].bottom - previous[0].top):
            lines.append("")
        lines.append(" ".join(word.text for word in row))
        previous = row
    return "\n".join(lines)
