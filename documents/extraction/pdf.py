"""The text of a PDF in reading order: pypdf for plain pages of one column, word positions for all others.

Runs inside `documents.extraction.reader`, without Django.
"""

import io

from pdfminer.utils import Matrix, mult_matrix
from pypdf import PageObject, PdfReader

from core.errors import Invalid
from documents.extraction.layout import may_have_columns, reading_order
from documents.extraction.positions import PositionReader
from documents.extraction.scripts import is_right_to_left, plain_letters

MAXIMUM_PAGES = 2_000
MAXIMUM_CHARACTERS = 2_000_000
# A jump of this many thousandths of the letter size inside a line may lead over a gutter.
_WIDE_JUMP = -1_500
_DAMAGED = "The PDF could not be read: the file is damaged or is no PDF."
_ENCRYPTED = "The PDF is encrypted with a password; remove the protection and send it again."
_NO_TEXT = "The PDF holds no text: if its pages are scanned pictures, they need text recognition (OCR) first."


def pdf_text(data: bytes) -> str:
    """The text of all pages, one after the other with a line break between. Raises `Invalid` with the reason."""
    if b"%PDF-" not in data[:1024]:
        raise Invalid("The file is no PDF.")
    reader = _open(data)
    try:
        number = len(reader.pages)
    except Exception:  # a damaged file fails in any way; each means the same
        raise Invalid(_DAMAGED) from None
    if number > MAXIMUM_PAGES:
        raise Invalid(f"The PDF has {number:,} pages, at most {MAXIMUM_PAGES:,} are allowed; split it.")
    pages, failed = _read_pages(reader, data)
    text = "\n".join(pages)
    if text.strip():
        return _tidy(text)
    raise Invalid(_DAMAGED if failed or not number else _NO_TEXT)


def _open(data: bytes) -> PdfReader:
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        # A file "protected" with an empty password opens for everybody.
        if reader.is_encrypted and not reader.decrypt(""):
            raise Invalid(_ENCRYPTED)
    except Invalid:
        raise
    except Exception:  # a damaged file fails in any way; each means the same
        raise Invalid(_DAMAGED) from None
    return reader


def _read_pages(reader: PdfReader, data: bytes) -> tuple[list[str], int]:
    """The text of each page, and how many pages could not be read at all."""
    pages: list[str] = []
    failed = 0
    length = 0
    layout = _LayoutReader(data, len(reader.pages))
    for number in range(len(reader.pages)):
        try:
            text, is_plain = _plain_text(reader.pages[number])
        except MemoryError:
            raise
        except Exception:  # a damaged file fails in any way; each means the same
            text, is_plain = "", False
            failed += 1
        if not is_plain or not text.strip():
            text = layout.page_text(number) or text
        length += len(text)
        if length > MAXIMUM_CHARACTERS:
            raise Invalid(f"The text of this PDF is too long: at most {MAXIMUM_CHARACTERS:,} characters are allowed.")
        pages.append(text)
    return pages, failed


def _plain_text(page: PageObject) -> tuple[str, bool]:
    """pypdf's text of a page, and whether nothing speaks against it.

    What does: text that begins side by side or with wide jumps inside a line, text that is turned or runs from right to
    left, and text with a replacement, all of which pypdf reads as it is drawn.
    """
    starts: list[tuple[float, float]] = []
    doubts = 0

    def note(text: str, cm: Matrix, tm: Matrix, font: object, size: object) -> None:
        nonlocal doubts
        if text.strip():
            a, b, _, _, x, y = mult_matrix(tm, cm)
            starts.append(_upright(x, y, page.rotation))
            turned = _upright(a, b, page.rotation)
            doubts += turned[0] <= abs(turned[1])

    def watch(operator: bytes, operands: object, cm: Matrix, tm: Matrix) -> None:
        nonlocal doubts
        match operator, operands:
            case b"TJ", [list(pieces)]:
                doubts += any(isinstance(piece, float | int) and piece < _WIDE_JUMP for piece in pieces)
            case b"BDC", [_, {"/ActualText": _}]:
                doubts += 1

    text = page.extract_text(visitor_text=note, visitor_operand_before=watch)
    return text, not (doubts or is_right_to_left(text) or may_have_columns(starts))


def _upright(x: float, y: float, rotation: int) -> tuple[float, float]:
    """A point of the page, or a direction, as it is shown when the page is turned clockwise by `rotation` degrees."""
    return {90: (y, -x), 180: (-x, -y), 270: (-y, x)}.get(rotation % 360, (x, y))


class _LayoutReader:
    """Pages by their word positions; the file is opened again only when the first page needs it."""

    def __init__(self, data: bytes, page_count: int) -> None:
        self._data = data
        self._page_count = page_count
        self._reader: PositionReader | None = None
        self._broken = False

    def page_text(self, number: int) -> str:
        """The page in reading order; empty when its layout cannot be analysed."""
        if self._broken:
            return ""
        try:
            reader = self._reader or self._open()
            return "\n\n".join(reading_order(words, rules) for words, rules in reader.sheets(number) if words)
        except MemoryError:
            raise
        except Exception:  # a damaged file fails in any way; each means the same
            return ""

    def _open(self) -> PositionReader:
        self._broken = True  # until it proves to be whole: a file that fails once is not tried for every page
        reader = PositionReader(self._data)
        if reader.page_count != self._page_count:
            raise Invalid(_DAMAGED)  # the two libraries disagree on the pages, so their numbers mean nothing
        self._reader, self._broken = reader, False
        return reader


def _tidy(text: str) -> str:
    """Readable and storable: plain letters, whole characters only, no trailing blanks."""
    whole = plain_letters(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "\n".join(line.rstrip() for line in whole.splitlines()).strip()
