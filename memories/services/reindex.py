"""Building the word index of a space anew, as after a change of its language or of how words are cut."""

import logging

from django.db import connection, transaction
from kombu.exceptions import OperationalError

from history.services.commits import lock
from memories.models import Memory, SpaceStatistics
from memories.services.statements import term_context
from memories.services.terms import WORDS_VERSION, add_terms, note_terms
from spaces.isolation import bound, every_space
from spaces.models import Space, SpaceOwnedQuerySet

logger = logging.getLogger(__name__)


def reindex_words(space: Space, *, unless_current: bool = False) -> int:
    """Index every active memory of `space` for its current language; returns how many. One transaction: searches see
    the old index until the new one is complete, and saves in the space wait.

    `unless_current` leaves a space alone whose words were cut by the rules of today."""
    with bound(space):
        # First, as every writer of memories does: a note that is being edited holds rows that this would wait for.
        lock(space.id)
        # Postings refer to the space, so this waits for saves under way and holds back new ones.
        space = Space.objects.select_for_update().get(id=space.id)
        if unless_current and not _outdated().filter(space_id=space.id).exists():
            return 0
        rows = Memory.objects.filter(space=space, is_active=True).select_related("created_by", "topic")
        memories = list(rows.select_for_update(of=("self",)).order_by("id"))
        with connection.cursor() as cursor:
            for table in ("memories_memoryterm", "memories_vocabularyterm", "memories_spacestatistics"):
                cursor.execute(f"DELETE FROM {table} WHERE space_id = %s", [space.id])  # noqa: S608 - fixed names
        for memory in memories:
            author = memory.created_by.display_name if memory.created_by else ""
            add_terms(memory, space.language, [*term_context(author, memory.created_at), *note_terms(memory)])
    return len(memories)


def reindex_outdated() -> int:
    """Index spaces anew whose words were cut by older rules; returns how many memories. Two workers do no harm."""
    with every_space():
        ids = list(_outdated().values_list("space_id", flat=True))
    # Deleted in the meantime are those that are missing.
    return sum(reindex_words(space, unless_current=True) for space in Space.objects.filter(id__in=ids).order_by("id"))


def _outdated() -> SpaceOwnedQuerySet:
    rows: SpaceOwnedQuerySet = SpaceStatistics.objects.filter(words_version__lt=WORDS_VERSION)
    return rows


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
