"""Reading files takes nothing from those who do not."""

import threading
import time

import pytest
from django.db import connection

from core.errors import Busy
from documents.extraction import sandbox
from documents.extraction.tests.pdfs import encoded, make_pdf
from documents.models import Document
from documents.services import documents
from documents.services.documents import create_document
from memories.tests.factories import make_access

HELLO = make_pdf([(50, 700, "Hello from a file")])


def test_only_so_many_files_are_read_at_once_and_the_next_is_told_soon(monkeypatch):
    let_go = threading.Event()
    monkeypatch.setattr(sandbox, "_read", lambda data: str(let_go.wait(30)))
    monkeypatch.setattr(sandbox, "PATIENCE_SECONDS", 0.05)
    readers = [threading.Thread(target=sandbox.read_pdf, args=(HELLO,)) for _ in range(sandbox.READERS)]
    for reader in readers:
        reader.start()
    time.sleep(0.2)
    with pytest.raises(Busy, match="send this one again"):
        sandbox.read_pdf(HELLO)
    let_go.set()
    for reader in readers:
        reader.join()
    assert sandbox.read_pdf(HELLO) == "True"


def test_a_reader_is_given_back_after_a_file_that_cannot_be_read():
    for _ in range(sandbox.READERS + 1):
        with pytest.raises(Exception, match="PDF"):
            sandbox.read_pdf(b"%PDF-1.4 nonsense")


@pytest.mark.django_db(transaction=True)
def test_no_database_connection_is_held_while_a_file_is_read(monkeypatch):
    held = []
    plain = documents.extract_text

    def watched(doc_type, content):
        held.append(connection.connection is not None)
        return plain(doc_type, content)

    monkeypatch.setattr(documents, "extract_text", watched)
    access = make_access()
    assert connection.connection is not None
    create_document(access, title="File", doc_type="pdf", content=encoded(HELLO))
    assert held == [False]
    assert Document.objects.get().raw_content == "Hello from a file"
