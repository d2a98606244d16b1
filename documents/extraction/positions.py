"""Where the words of a page stand: the glyphs that pdfminer draws, put together to words, and the lines ruled there.

Every writing direction becomes a sheet of its own, turned so that its lines run from left to right and follow each
other downwards. Pages turned without saying so, stamps in the margin and vertical Japanese then all read alike.
"""

import io
import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pdfminer.pdfcolor import PDFColorSpace
from pdfminer.pdfdevice import PDFTextDevice
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdffont import PDFFont, PDFUnicodeNotDefined
from pdfminer.pdfinterp import PDFGraphicState, PDFPageInterpreter, PDFResourceManager
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser
from pdfminer.utils import Matrix, PathSegment, Point, Rect, apply_matrix_pt, decode_text

from documents.extraction.scripts import spell

# Glyphs further apart than this part of the letter size belong to two words; blanks of common fonts are 0.25 wide.
_WORD_GAP = 0.2
# Glyphs whose baselines differ by less than this part of the letter size stand on one line.
_SAME_LINE = 0.25
# The same glyph drawn again this near (in letter sizes) makes it bold.
_SAME_PLACE = 0.15
# Lines turned by up to this many degrees pass for level, as on a page scanned slightly askew.
_LEVEL = 2
# Shorter strokes belong to letters, arrows and charts. Points.
_SHORTEST_RULE = 8.0
# Tables have fewer; drawings with more are not worth the time.
_MOST_RULES = 5_000


class Word(NamedTuple):
    """A word and its box in points; `top` and `bottom` count downwards."""

    text: str
    left: float
    right: float
    top: float
    bottom: float


class Rule(NamedTuple):
    """A straight line, level or upright, in points that count like those of `Word`."""

    left: float
    right: float
    top: float
    bottom: float


class Sheet(NamedTuple):
    """The words of a page that run in one direction, in the order they were drawn, and the page's rules."""

    words: list[Word]
    rules: list[Rule]


class PositionReader:
    """The sheets of single pages of a PDF. Everything here raises whatever a damaged file makes pdfminer raise."""

    def __init__(self, data: bytes) -> None:
        self._pages = list(PDFPage.create_pages(PDFDocument(PDFParser(io.BytesIO(data)))))
        manager = PDFResourceManager()
        self._device = _Device(manager)
        self._interpreter = PDFPageInterpreter(manager, self._device)

    @property
    def page_count(self) -> int:
        return len(self._pages)

    def sheets(self, number: int) -> list[Sheet]:
        """The page's sheets, the one with most text first; none when most of its glyphs stand for unknown letters."""
        self._device.clear()
        self._interpreter.process_page(self._pages[number])
        return self._device.sheets()


class _Glyph(NamedTuple):
    text: str
    angle: int
    left: float
    right: float
    top: float
    bottom: float
    baseline: float


class _Device(PDFTextDevice):
    """Collects the glyphs and rules of one page."""

    def __init__(self, manager: PDFResourceManager) -> None:
        super().__init__(manager)
        self.clear()

    def clear(self) -> None:
        self._glyphs: list[_Glyph] = []
        self._unknown = 0
        self._strokes: list[tuple[Point, Point]] = []
        # Per open marked content: the text that replaces it, if any, and how many glyphs stood before it.
        self._marked: list[tuple[str | None, int]] = []
        self._outer: list[Matrix | None] = []

    def sheets(self) -> list[Sheet]:
        if self._unknown > len(self._glyphs):
            return []
        by_angle: dict[int, list[_Glyph]] = {}
        for glyph in self._glyphs:
            by_angle.setdefault(glyph.angle, []).append(glyph)
        ordered = sorted(by_angle.items(), key=lambda item: -len(item[1]))
        return [Sheet(_words(glyphs), _rules(self._strokes, angle)) for angle, glyphs in ordered]

    def render_char(
        self,
        matrix: Matrix,
        font: PDFFont,
        fontsize: float,
        scaling: float,
        rise: float,
        cid: int,
        ncs: PDFColorSpace,
        graphicstate: PDFGraphicState,
    ) -> float:
        advance = font.char_width(cid) * fontsize * scaling
        try:
            text = font.to_unichr(cid)
        except PDFUnicodeNotDefined:
            self._unknown += 1
            return advance
        a, b, c, d, _, _ = matrix
        shift = font.char_disp(cid)
        if isinstance(shift, tuple):  # a font that writes downwards; thousandths of the size
            across = fontsize * 0.5 if shift[0] is None else shift[0] * fontsize * 0.001
            above = (1000 - shift[1]) * fontsize * 0.001 + rise
            angle = _angle(c, d, advance)
            box = (-across, above, fontsize - across, above + advance)
        else:
            below = font.get_descent() * fontsize + rise
            angle = _angle(a, b, advance)
            box = (0.0, below, advance, below + fontsize)
        self._glyphs.append(_placed(text, matrix, angle, box))
        return advance

    def paint_path(
        self, graphicstate: PDFGraphicState, stroke: bool, fill: bool, evenodd: bool, path: Sequence[PathSegment]
    ) -> None:
        if self.ctm is None or not (stroke or fill) or len(self._strokes) > _MOST_RULES:
            return
        start = here = (0.0, 0.0)
        for operator, *numbers in path:
            end = (float(numbers[-2]), float(numbers[-1])) if numbers else None
            there = apply_matrix_pt(self.ctm, end) if end else start
            if operator == "m":
                start = there
            elif operator in "lh" and math.dist(here, there) >= _SHORTEST_RULE:
                self._strokes.append((here, there))
            here = there

    def begin_figure(self, name: str, bbox: Rect, matrix: Matrix) -> None:
        self._outer.append(self.ctm)

    def end_figure(self, name: str) -> None:
        # A drawing inside the page leaves its own coordinates behind.
        self.ctm = self._outer.pop()

    def begin_tag(self, tag: object, props: object = None) -> None:
        text = props.get("ActualText") if isinstance(props, dict) else None
        self._marked.append((decode_text(text) if isinstance(text, bytes) else None, len(self._glyphs)))

    def end_tag(self) -> None:
        if not self._marked:
            return
        text, before = self._marked.pop()
        replaced = self._glyphs[before:]
        # A replacement for several lines has no place of its own: the glyphs serve better.
        if text is not None and replaced and _on_one_line(replaced):
            self._glyphs[before:] = [_spanning(text, replaced)]


def _angle(x: float, y: float, advance: float) -> int:
    """The direction of writing in whole degrees, 0 to the right and 90 upwards."""
    if y == 0 and x * advance >= 0:
        return 0
    sign = -1.0 if advance < 0 else 1.0
    degrees = round(math.degrees(math.atan2(y * sign, x * sign))) % 360
    level = round(degrees / 90) * 90
    return level % 360 if abs(degrees - level) <= _LEVEL else degrees


def _turned(point: Point, angle: int) -> Point:
    """`point` on a sheet turned so that `angle` points to the right, with the second value counting downwards."""
    x, y = point
    if angle == 0:
        return x, -y
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return x * cosine + y * sine, x * sine - y * cosine


def _placed(text: str, matrix: Matrix, angle: int, box: Rect) -> _Glyph:
    a, b, c, d, e, f = matrix
    if a > 0 and d > 0 and b == c == 0 and box[0] <= box[2]:  # what nearly every glyph is, without the detours
        return _Glyph(text, 0, a * box[0] + e, a * box[2] + e, -d * box[3] - f, -d * box[1] - f, -f)
    first = _turned(apply_matrix_pt(matrix, box[:2]), angle)
    second = _turned(apply_matrix_pt(matrix, box[2:]), angle)
    baseline = _turned((e, f), angle)[1]
    left, right = sorted((first[0], second[0]))
    top, bottom = sorted((first[1], second[1]))
    return _Glyph(text, angle, left, right, top, bottom, baseline)


def _spanning(text: str, glyphs: Sequence[_Glyph]) -> _Glyph:
    """One glyph that reads `text` in the place of `glyphs`."""
    return glyphs[0]._replace(
        text=" ".join(text.split()),
        left=min(glyph.left for glyph in glyphs),
        right=max(glyph.right for glyph in glyphs),
        top=min(glyph.top for glyph in glyphs),
        bottom=max(glyph.bottom for glyph in glyphs),
    )


def _on_one_line(glyphs: Sequence[_Glyph]) -> bool:
    return all(glyph.angle == glyphs[0].angle and _level(glyph, glyphs[0]) for glyph in glyphs)


def _level(one: _Glyph, other: _Glyph) -> bool:
    return abs(one.baseline - other.baseline) <= _SAME_LINE * max(one.bottom - one.top, other.bottom - other.top)


def _words(glyphs: Iterable[_Glyph]) -> list[Word]:
    """The glyphs of one direction, put together to words."""
    words: list[Word] = []
    current: list[_Glyph] = []
    left = right = 0.0
    for glyph in glyphs:
        if not glyph.text.strip():
            _finish(current, words)
            continue
        size = glyph.bottom - glyph.top
        # Text from right to left is drawn in either order, so a word may grow on both sides.
        if current and (
            max(glyph.left - right, left - glyph.right) > _WORD_GAP * size or not _level(glyph, current[-1])
        ):
            _finish(current, words)
        if not current:
            left, right = glyph.left, glyph.right
        elif glyph.left < right and _drawn_already(glyph, current):
            continue
        left, right = min(left, glyph.left), max(right, glyph.right)
        if current and unicodedata.combining(glyph.text[0]):
            current[-1] = current[-1]._replace(text=current[-1].text + glyph.text)
        else:
            current.append(glyph)
    _finish(current, words)
    return _without_repeats(words)


def _drawn_already(glyph: _Glyph, word: Iterable[_Glyph]) -> bool:
    near = _SAME_PLACE * (glyph.bottom - glyph.top)
    return any(glyph.text == other.text and abs(glyph.left - other.left) < near for other in word)


def _finish(glyphs: list[_Glyph], words: list[Word]) -> None:
    """Move the collected glyphs as one word to the end of `words`."""
    if not glyphs:
        return
    glyphs.sort(key=lambda glyph: glyph.left)
    text = spell([glyph.text for glyph in glyphs])
    top, bottom = min(glyph.top for glyph in glyphs), max(glyph.bottom for glyph in glyphs)
    words.append(Word(text, glyphs[0].left, max(glyph.right for glyph in glyphs), top, bottom))
    glyphs.clear()


def _without_repeats(words: Iterable[Word]) -> list[Word]:
    """The words without those drawn twice in one place to look bold."""
    kept: list[Word] = []
    seen: dict[str, list[Word]] = {}
    for word in words:
        near = _SAME_PLACE * (word.bottom - word.top)
        same = seen.setdefault(word.text, [])
        if not any(abs(word.left - other.left) < near and abs(word.top - other.top) < near for other in same):
            same.append(word)
            kept.append(word)
    return kept


def _rules(strokes: Iterable[tuple[Point, Point]], angle: int) -> list[Rule]:
    rules: list[Rule] = []
    for start, end in strokes:
        (x0, y0), (x1, y1) = _turned(start, angle), _turned(end, angle)
        if min(abs(x1 - x0), abs(y1 - y0)) < 1:
            rules.append(Rule(min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)))
    return rules
