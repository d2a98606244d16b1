"""Telling the worker that there is work. The work itself is in rows, so a lost message only costs time."""

import logging

from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def request_embedding() -> None:
    """Ask the worker, after the transaction, to embed what is owed; without a broker the periodic sweep finds it."""
    transaction.on_commit(_send)


def _send() -> None:
    from memories.tasks import embed_owed

    try:
        embed_owed.delay()
    except (OperationalError, OSError) as error:
        logger.warning("the worker could not be told of new work, the sweep will find it: %s", error)
