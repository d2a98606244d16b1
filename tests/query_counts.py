"""What a block of code asks the database, without the statements of its transactions and bindings."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test.utils import CaptureQueriesContext

# Each block of `bound` has the same ones, whatever is asked inside.
_BOOKKEEPING = re.compile(r"SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT|SELECT (current_setting|set_config)\('memory\.")


class Captured(list[dict[str, str]]):
    """The statements that were asked, each under `sql`; filled when the block has ended."""

    @property
    def captured_queries(self) -> list[dict[str, str]]:
        return self


@contextmanager
def captured_queries() -> Iterator[Captured]:
    """Collects the statements of the block."""
    asked = Captured()
    with CaptureQueriesContext(connection) as context:
        yield asked
    asked += [query for query in context.captured_queries if not _BOOKKEEPING.match(query["sql"].strip())]
