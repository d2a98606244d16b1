"""Telling the worker that there is work. The work itself is in rows, so a lost message only costs time."""

import logging

from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def request_embedding() -> None:
    """Ask the worker, after the transaction, to embed what is owed; without a broker the periodic sweep finds it."""
    transaction.on_commit(lambda: _send("embed_owed"))


def request_tending(model_id: int) -> None:
    """Ask the worker, after the transaction, to go on filling or removing an embedding model, as its state says."""
    transaction.on_commit(lambda: _send("tend_embedding_model", model_id))


def request_processing() -> bool:
    """Ask a worker to process the documents that wait; False when no broker answers. Outside of transactions only."""
    return _send("process_documents")


def _send(task: str, *arguments: object) -> bool:
    from memories import tasks

    try:
        getattr(tasks, task).delay(*arguments)
    except (OperationalError, OSError) as error:
        logger.warning("the worker could not be told of new work: %s", error)
        return False
    return True
