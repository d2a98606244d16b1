"""The text of a document, whatever it came as.

extract_text("markdown", "# Title")        # the content itself
extract_text("pdf", "JVBERi0xLjcK…")       # the text of a base64 PDF, in reading order
"""

from core.text import clean_text
from documents.extraction.files import decode_file
from documents.extraction.sandbox import read_pdf

MAXIMUM_EXTRACTED = 2_000_000


def extract_text(doc_type: str, content: str) -> str:
    """The text of `content`: read from the file when `doc_type` is `pdf` in any case, else `content` as it is.

    Raises `Invalid` with one sentence when the file is no base64, too large, no PDF, damaged, encrypted with a
    password, without any text, or takes too long to read.
    """
    if doc_type.strip().lower() != "pdf":
        return content
    text = read_pdf(decode_file(content))
    return clean_text(text, "The text of this PDF", maximum=MAXIMUM_EXTRACTED)
