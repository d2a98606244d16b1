"""The text of a PDF in reading order: pypdf for pages of one column, word positions for the others.

Runs inside `documents.extraction.reader`, without Django.
"""

import io
from typing import Any

import pdfplumber
from pypdf import PageObject, PdfReader

from core.errors import Invalid
from documents.extraction.layout import Word, may_have_columns, reading_order

MAXIMUM_PAGES = 2_000
_DAMAGED = "The PDF could not be read: the file is damaged or is no PDF."
_ENCRYPTED = "The PDF is encrypted with a password; remove the protection and send it again."
_NO_TEXT = "The PDF holds no text, only pictures: scanned pages need text recognition (OCR) first."


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
    layout = _LayoutReader(data)
    for number in range(len(reader.pages)):
        try:
            page = reader.pages[number]
            text, starts = _plain_text(page)
        except (MemoryError, RecursionError):
            raise
        except Exception:  # a damaged file fails in any way; each means the same
            text, starts = "", []
            failed += 1
        if may_have_columns(starts) or not text.strip():
            text = layout.page_text(number) or text
        pages.append(text)
    return pages, failed


def _plain_text(page: PageObject) -> tuple[str, list[tuple[float, float]]]:
    """pypdf's text of a page, and where each piece of it begins (points, origin at the lower left)."""
    starts: list[tuple[float, float]] = []

    def note(text: str, cm: Any, tm: Any, font: Any, size: Any) -> None:
        if text.strip():
            starts.append((tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]))

    return page.extract_text(visitor_text=note), starts


class _LayoutReader:
    """Word positions of single pages, opened only when the first page needs them."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._pdf: Any = None

    def page_text(self, number: int) -> str:
        """The page in reading order; empty when its layout cannot be analysed."""
        try:
            if self._pdf is None:
                self._pdf = pdfplumber.open(io.BytesIO(self._data), unicode_norm="NFC")
            page = self._pdf.pages[number]
            words = [
                Word(word["text"], word["x0"], word["x1"], word["top"], word["bottom"])
                for word in page.extract_words(x_tolerance_ratio=0.2, keep_blank_chars=False)
            ]
            page.close()
        except (MemoryError, RecursionError):
            raise
        except Exception:  # a damaged file fails in any way; each means the same
            return ""
        return reading_order(words)


_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})


def _tidy(text: str) -> str:
    """Readable and storable: no ligature characters, no half surrogates, no trailing blanks."""
    text = text.translate(_LIGATURES).encode("utf-8", "replace").decode("utf-8")
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()
