"""What does the history of a note cost?

The same updates of notes with their commits and without (the commit is left out, all rows are written, nothing is
embedded), interleaved, at growing numbers of files; and how much the tables of the history grow with each.

    bin/run python -m benchmarks.notes [FILES ...]
"""

import os
import statistics
import sys
import time
from typing import Any
from unittest.mock import patch

from benchmarks.common import scratch_database
from benchmarks.data import demo_key

UPDATES = 100
LIMIT = 2.0
_SIZE = "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name"
_TABLES = ["history_object", "history_ref", "history_commit", "history_change"]


def _fill(access: Any, files: int) -> None:
    """Bring the space to that many files, most of them notes of a hundred topics, in one commit."""
    from django.utils import timezone

    from history.queries import list_files
    from history.services.commits import Author, commit
    from spaces.isolation import bound

    space = access.space(None)
    missing = files - len(list_files(space.id))
    with bound(space):
        content = {f"filled-{number % 100}/note-{number}.md": b"---\ntitle: x\n---\n\nx\n" for number in range(missing)}
        commit(
            space.id, content, author=Author("b", "b@example.org"), message="fill", trailers={}, moment=timezone.now()
        )


def _size() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_SIZE, [_TABLES])
        return int(cursor.fetchall()[0][0])


def main(sizes: list[int]) -> int:
    from memories.services.notes import update_note, upsert_note

    _, access = demo_key()
    notes = [
        upsert_note(access, project=None, topic=f"topic-{number % 5}", title=f"Note {number}", text="Text.").note
        for number in range(20)
    ]
    failed = False
    for files in sizes:
        _fill(access, files)
        before = _size()
        with_history: list[float] = []
        without: list[float] = []
        for number in range(2 * UPDATES):
            note = notes[number % len(notes)]
            started = time.perf_counter()
            if number % 2:
                with patch("memories.services.record.commit", return_value=None):
                    update_note(access, note.id, text=f"Text {number} " * 40)
                without.append(time.perf_counter() - started)
            else:
                update_note(access, note.id, text=f"Text {number} " * 40)
                with_history.append(time.perf_counter() - started)
        ratio = statistics.median(with_history) / statistics.median(without)
        failed = failed or ratio > LIMIT
        print(
            f"{files:,} files: {statistics.median(with_history) * 1000:.1f} ms with a commit, "
            f"{statistics.median(without) * 1000:.1f} ms without, ratio {ratio:.2f} (limit {LIMIT}); "
            f"{(_size() - before) / UPDATES:,.0f} bytes a commit"
        )
    return int(failed)


if __name__ == "__main__":
    os.environ["EMBEDDINGS_PROVIDER"] = "none"
    with scratch_database():
        sys.exit(main([int(argument) for argument in sys.argv[1:]] or [1_000, 100_000]))
