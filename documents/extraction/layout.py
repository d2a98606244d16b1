"""Reading order from word positions: columns are read one after the other, rows of a table stay together.

The page is walked from top to bottom in rows. As long as one white gap runs through consecutive rows and prose stands
on both sides of it, they are columns; a row that crosses the gap (a heading, a full-width paragraph) ends them. Lines
ruled across the gap, or blank bands that all columns share, make a table of them: read row by row, each cell whole.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple, TypeVar

from documents.extraction.positions import Rule, Word
from documents.extraction.ruling import Ruling
from documents.extraction.scripts import count_words, is_right_to_left, joins_without_blank, reading_sequence

# A gutter is at least this wide: wider than the widest justified blank, narrower than any column gap in use (12–24 pt).
MINIMUM_GUTTER = 9.0
# Shorter runs of rows are too little to tell columns from words that happen to line up.
_FEWEST_ROWS = 3
# The lines of a column begin within a paragraph indent of each other; what begins further left crosses the gutter.
_INDENT = 24.0
# Prose has more words in a line than a table cell or a list number.
_PROSE_WORDS = 2.5
# A column of whose lines more than this part begin with a number holds figures, not prose.
_FIGURES = 0.6
_FIGURE = re.compile(r"[^\w]*\d")
# Words nearer than this part of their height are one word in two fonts; the narrowest blank is wider.
_TOUCHING = 0.1
# A step larger than the usual one by this part of the line height separates paragraphs.
_PARAGRAPH = 0.5

Gap = tuple[float, float]
Row = list[Word]
_Placed = TypeVar("_Placed", Word, Rule)


class _Block(NamedTuple):
    """Rows read one after the other; `plain` ones are no column, and continue plain ones before them."""

    rows: list[Row]
    plain: bool


def may_have_columns(starts: Sequence[tuple[float, float]]) -> bool:
    """Cheap question to the places where pieces of text begin: might this page have several columns?

    Yes, when pieces begin well apart from each other on several heights. A wrong yes only costs a closer look.
    """
    if len(starts) < 2 * _FEWEST_ROWS:
        return False
    leftmost = min(x for x, _ in starts)
    left = [y for x, y in starts if x < leftmost + 36]
    right = [y for x, y in starts if x > leftmost + 108]
    if len(left) < _FEWEST_ROWS or len(right) < _FEWEST_ROWS:
        return False
    return max(min(left), min(right)) <= min(max(left), max(right))


def reading_order(words: Iterable[Word], rules: Iterable[Rule] = ()) -> str:
    """The words as text: lines of a column joined by line breaks, blocks by a blank line."""
    words = list(words)
    leftward = sum(is_right_to_left(word.text) for word in words) * 2 > len(words)
    if leftward:
        # Seen in a mirror, pages written from right to left have the same columns as all others.
        words, rules = [_mirrored(word) for word in words], [_mirrored(rule) for rule in rules]
    ruling = Ruling(rules)
    rows = _rows(words)
    free = [_free(row, ruling) for row in rows]
    blocks: list[_Block] = []
    start = 0
    while start < len(rows):
        end, found = _columns_at(rows, free, start, ruling)
        for block in found or [_Block([rows[start]], plain=True)]:
            if block.plain and blocks and blocks[-1].plain:
                blocks[-1].rows.extend(block.rows)
            else:
                blocks.append(block)
        start = end if found else start + 1
    return "\n\n".join(_lines(block.rows, leftward=leftward) for block in blocks)


def _mirrored(thing: _Placed) -> _Placed:
    return thing._replace(left=-thing.right, right=-thing.left)


def _rows(words: Iterable[Word]) -> list[Row]:
    """Words grouped by the line they stand on, top to bottom, left to right."""
    rows: list[Row] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom, word.left)):
        middle = (word.top + word.bottom) / 2
        if rows and rows[-1][0].top <= middle <= rows[-1][0].bottom:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word.left) for row in rows]


def _columns_at(
    rows: Sequence[Row], free: Sequence[Sequence[Gap]], start: int, ruling: Ruling
) -> tuple[int, list[_Block]]:
    """The columns or table that begin with the row at `start`, as blocks in reading order, and where they end."""
    end, gaps = _longest_run(rows, free, start, ruling)
    end = _first_crossing(rows, start, end, gaps)
    end = _last_ruled(rows, start, end, gaps, ruling)
    if end <= start or not gaps:
        return start, []
    blocks: list[_Block] = []
    bands = _bands(rows[start:end], gaps, ruling)
    for band in bands:
        sides = _split(band, gaps)
        if _are_columns(sides) or (len(bands) > 1 and _are_cells(sides)):
            blocks += [_Block(side, plain=False) for side in sides if side]
        else:
            blocks.append(_Block(band, plain=True))
    return end, [] if all(block.plain for block in blocks) else blocks


def _longest_run(
    rows: Sequence[Row], free: Sequence[Sequence[Gap]], start: int, ruling: Ruling
) -> tuple[int, list[Gap]]:
    """How far from `start` the rows share a gap with text on both sides, and the gaps they share."""
    gaps: list[Gap] = [(float("-inf"), float("inf"))]
    held: list[Gap] = []
    left, right = float("inf"), float("-inf")
    end = start
    for index in range(start, len(rows)):
        row = rows[index]
        left, right = min(left, row[0].left), max(right, max(word.right for word in row))
        shared = ((max(a[0], b[0]), min(a[1], b[1])) for a in gaps for b in free[index] if a[0] < b[1] and b[0] < a[1])
        gaps = [gap for gap in shared if gap[1] - gap[0] >= MINIMUM_GUTTER or ruling.upright_between(*gap)]
        inner = [gap for gap in gaps if gap[0] >= left and gap[1] <= right]
        if not gaps or (index > start and held and not inner):
            break
        held, end = inner, index + 1
    return end, held


def _free(row: Row, ruling: Ruling) -> list[Gap]:
    """The intervals of the line that no word of this row covers and that may separate columns."""
    free: list[Gap] = []
    left = float("-inf")
    middle = _middle(row)
    for word in row:
        if word.left - left >= MINIMUM_GUTTER or ruling.upright_between(left, word.left, middle):
            free.append((left, word.left))
        left = max(left, word.right)
    free.append((left, float("inf")))
    return free


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


def _last_ruled(rows: Sequence[Row], start: int, end: int, gaps: Sequence[Gap], ruling: Ruling) -> int:
    """Where a run of rows ends that lines are ruled through: what follows the last line is no part of the table."""
    levels = sorted(level for gap in gaps for level in ruling.levels_across(*gap))
    inside = [index for index in range(start, end) if levels and _middle(rows[index]) < levels[-1]]
    between = sum(_middle(rows[start]) < level < _middle(rows[end - 1]) for level in levels) if inside else 0
    return inside[-1] + 1 if between > 1 else end


def _middle(row: Row) -> float:
    return (row[0].top + row[0].bottom) / 2


def _bands(rows: Sequence[Row], gaps: Sequence[Gap], ruling: Ruling) -> list[list[Row]]:
    """The rows between lines ruled across a gap, or between blank bands that cross all columns."""
    ruled = _cut(rows, [level for gap in gaps for level in ruling.levels_across(*gap)])
    return [band for part in ruled for band in _cut(part, _blank_bands(part, gaps))]


def _cut(rows: Sequence[Row], heights: Sequence[float]) -> list[list[Row]]:
    bands: dict[int, list[Row]] = {}
    for row in rows:
        bands.setdefault(sum(height < _middle(row) for height in heights), []).append(row)
    return list(bands.values())


def _blank_bands(rows: Sequence[Row], gaps: Sequence[Gap]) -> list[float]:
    """Where a table without rules parts its rows: blank bands of all columns, when no column has one of its own."""
    sides = _split(rows, gaps)
    steps = [step for side in sides for step, _ in _steps(side)]
    if not steps:
        return []
    height = median(word.bottom - word.top for row in rows for word in row)
    wide = median(steps) + _PARAGRAPH * height
    shared = [place for step, place in _steps(rows) if step > wide]
    own = max(sum(step > wide for step, _ in _steps(side)) for side in sides)
    return shared if len(shared) > 1 and own <= len(shared) else []


def _steps(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """The blank between each row and what stands above it: its height, and the place of its middle."""
    steps = []
    bottoms = itertools.accumulate((max(word.bottom for word in row) for row in rows), max)
    for bottom, row in zip(bottoms, rows[1:], strict=False):
        top = min(word.top for word in row)
        steps.append((top - bottom, (top + bottom) / 2))
    return steps


def _split(rows: Iterable[Row], gaps: Iterable[Gap]) -> list[list[Row]]:
    """The rows of each column, in the order in which columns are read."""
    rows = list(rows)
    edges = [float("-inf"), *sorted((left + right) / 2 for left, right in gaps), float("inf")]
    sides = []
    for low, high in itertools.pairwise(edges):
        parts = ([word for word in row if low <= word.left < high] for row in rows)
        sides.append([part for part in parts if part])
    return sides


def _are_columns(sides: Sequence[Sequence[Row]]) -> bool:
    return all(len(side) >= _FEWEST_ROWS and _is_prose(side) for side in sides)


def _are_cells(sides: Sequence[Sequence[Row]]) -> bool:
    """Whether a row of a table has cells of several lines: such cells are read whole."""
    filled = [side for side in sides if side]
    lines = [len(side) for side in filled]
    return max(lines) > 1 and (min(lines) == 1 or all(map(_is_prose, filled)))


def _is_prose(rows: Sequence[Row]) -> bool:
    words = sum(count_words(word.text) for row in rows for word in row)
    figures = sum(bool(_FIGURE.match(row[0].text)) for row in rows)
    return words >= _PROSE_WORDS * len(rows) and figures <= _FIGURES * len(rows)


def _lines(rows: Sequence[Row], *, leftward: bool) -> str:
    steps = [step for step, _ in _steps(rows)]
    height = median(word.bottom - word.top for row in rows for word in row)
    wide = min(median(steps) if steps else 0.0, height) + _PARAGRAPH * height
    texts = [_line(row[::-1] if leftward else row) for row in rows]
    lines = texts[:1]
    for step, text in zip(steps, texts[1:], strict=True):
        lines += ["", text] if step > wide else [text]
    return "\n".join(lines)


def _line(row: Sequence[Word]) -> str:
    """The words of a line, given from left to right, as text."""
    ordered = [row[place] for place in reading_sequence([word.text for word in row])]
    text = ordered[0].text
    for before, word in itertools.pairwise(ordered):
        distance = max(word.left - before.right, before.left - word.right)
        height = min(word.bottom - word.top, before.bottom - before.top)
        joined = distance < _TOUCHING * height or (distance < height and joins_without_blank(before.text, word.text))
        text += word.text if joined else " " + word.text
    return text
