import contextlib
import io
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from core.errors import Invalid
from documents.extraction import extract_text, files, pdf, sandbox
from documents.extraction.pdf import pdf_text
from documents.extraction.tests.pdfs import encoded, encrypt, make_pdf, two_columns

HELLO = make_pdf([(50, 700, "Hello from a file")])


@pytest.mark.parametrize("doc_type", ["text", "markdown", "csv", "note", "anything"])
def test_text_is_kept_as_it_is(doc_type):
    assert extract_text(doc_type, " # Title\r\n\n") == " # Title\r\n\n"


@pytest.mark.parametrize("doc_type", ["pdf", "PDF", " Pdf "])
def test_a_pdf_becomes_its_text(doc_type):
    assert extract_text(doc_type, encoded(HELLO)) == "Hello from a file"


def test_base64_may_have_line_breaks_or_be_a_data_url():
    text = encoded(HELLO)
    broken = "\n".join(text[i : i + 76] for i in range(0, len(text), 76))
    assert extract_text("pdf", broken) == "Hello from a file"
    assert extract_text("pdf", "data:application/pdf;base64," + text) == "Hello from a file"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_an_empty_password_opens_and_a_real_one_is_refused(algorithm):
    assert extract_text("pdf", encoded(encrypt(HELLO, "", algorithm))) == "Hello from a file"
    with pytest.raises(Invalid, match="encrypted"):
        extract_text("pdf", encoded(encrypt(HELLO, "secret", algorithm)))


def test_what_is_no_base64_is_refused():
    for content in ("not base64!", "ünïcode", "=", "A"):
        with pytest.raises(Invalid):
            extract_text("pdf", content)


def test_what_is_no_pdf_is_refused():
    with pytest.raises(Invalid, match="no PDF"):
        extract_text("pdf", encoded(b"PK\x03\x04 a zip file"))


def test_a_damaged_pdf_is_refused():
    with pytest.raises(Invalid, match="damaged"):
        extract_text("pdf", encoded(b"%PDF-1.7\n" + b"\x00\xff" * 500))


def test_a_pdf_of_pictures_only_says_that_it_needs_ocr():
    buffer = io.BytesIO()
    paper = canvas.Canvas(buffer)
    paper.drawImage(ImageReader(Image.new("RGB", (20, 20), "red")), 50, 700)
    paper.save()
    with pytest.raises(Invalid, match="OCR"):
        extract_text("pdf", encoded(buffer.getvalue()))


def test_a_file_over_the_limit_is_refused_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr(files, "MAXIMUM_BYTES", 1000)
    with pytest.raises(Invalid, match="too large"):
        extract_text("pdf", "A" * 2000)


def test_too_many_pages_are_refused(monkeypatch):
    monkeypatch.setattr(pdf, "MAXIMUM_PAGES", 2)
    with pytest.raises(Invalid, match="3 pages"):
        pdf_text(make_pdf(*[[(50, 700, "x")]] * 3))


def test_a_reader_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 0.01)
    with pytest.raises(Invalid, match="longer than"):
        extract_text("pdf", encoded(HELLO))


def bomb(size: int) -> bytes:
    """A one-page PDF whose content stream expands to `size` blanks."""
    stream = zlib.compress(b" " * size, 1)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(stream), stream),
    ]
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, text) for number, text in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer << /Root 1 0 R /Size 5 >>\n"


def test_a_file_that_expands_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(sandbox, "MEMORY_BYTES", 300 * 1024**2)
    with pytest.raises(Invalid):
        extract_text("pdf", encoded(bomb(400_000_000)))


COLUMNS = make_pdf(two_columns(), [(50, 700, "second page")])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_changed_file_is_read_or_refused_and_never_anything_else(data):
    changed = bytearray(COLUMNS)
    for _ in range(data.draw(st.integers(1, 8))):
        changed[data.draw(st.integers(9, len(changed) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(20, len(changed)))
    with contextlib.suppress(Invalid):
        assert isinstance(pdf_text(bytes(changed[:end])), str)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_instead_of_base64_is_refused_in_words(content):
    with pytest.raises(Invalid):
        extract_text("pdf", content)
