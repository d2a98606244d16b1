"""Building the word index of a space anew, as after a change of its language."""

import logging

from django.db import connection, transaction
from kombu.exceptions import OperationalError

from history.services.commits import lock
from memories.models import Memory
from memories.services.statements import term_context
from memories.services.terms import add_terms, note_terms
from spaces.isolation import bound
from spaces.models import Space

logger = logging.getLogger(__name__)


def reindex_words(space: Space) -> int:
    """Index every active memory of `space` for its current language; returns how many. One transaction: searches see
    the old index until the new one is complete, and saves in the space wait."""
    with bound(space):
        # First, as every writer of memories does: a note that is being edited holds rows that this would wait for.
        lock(space.id)
        # Postings refer to the space, so this waits for saves under way and holds back new ones.
        space = Space.objects.select_for_update().get(id=space.id)
        rows = Memory.objects.filter(space=space, is_active=True).select_related("created_by", "topic")
        memories = list(rows.select_for_update(of=("self",)).order_by("id"))
        with connection.cursor() as cursor:
            for table in ("memories_memoryterm", "memories_vocabularyterm", "memories_spacestatistics"):
                cursor.execute(f"DELETE FROM {table} WHERE space_id = %s", [space.id])  # noqa: S608 - fixed names
        for memory in memories:
            author = memory.created_by.display_name if memory.created_by else ""
            add_terms(memory, space.language, [*term_context(author, memory.created_at), *note_terms(memory)])
    return len(memories)


def request_reindex(sender: object, space: Space, **kwargs: object) -> None:
    """When a space's language changed: let the worker do it after the transaction, or without a broker do it here."""
    from memories.tasks import reindex_space

    def send() -> None:
        try:
            reindex_space.delay(str(space.id))
        except (OperationalError, OSError) as error:
            logger.warning("the worker could not be asked, indexing here: %s", error)
            reindex_words(space)

    transaction.on_commit(send)
