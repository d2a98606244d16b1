"""PDFs made for tests: pages are lists of (x, y, text), in points from the lower left."""

import base64
import io
from collections.abc import Sequence

from pypdf import PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas

Line = tuple[float, float, str]


def make_pdf(*pages: Sequence[Line], font: str = "Helvetica") -> bytes:
    buffer = io.BytesIO()
    paper = canvas.Canvas(buffer, pagesize=A4)
    if font != "Helvetica":
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    for page in pages:
        paper.setFont(font, 10)
        for x, y, text in page:
            paper.drawString(x, y, text)
        paper.showPage()
    paper.save()
    return buffer.getvalue()


def two_columns(rows: int = 12) -> list[Line]:
    """Two columns of prose, drawn row by row as many programs do."""
    page: list[Line] = []
    for row in range(rows):
        page.append((50, 700 - row * 14, f"left{row} is about apples and pears"))
        page.append((310, 700 - row * 14, f"right{row} is about ships and sails"))
    return page


def encrypt(data: bytes, password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(password, "owner", algorithm=algorithm)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
