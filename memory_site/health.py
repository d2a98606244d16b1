"""Whether the server lives, is ready, and is well: three questions, three addresses, no names of hosts or tenants."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TimedOut
from typing import Any

import redis
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from core.database import lent_connection
from core.errors import ProviderUnavailable
from memories.embedding.service import get_embedder
from memories.models import PendingEmbedding

logger = logging.getLogger(__name__)

# A database that takes longer than this to say hello is not there for the people waiting.
BUDGET_SECONDS = 3
# Threads that hang on a dead database are not waited for; more than these cannot hang at once.
_probes = ThreadPoolExecutor(4, thread_name_prefix="health")
_migrated = threading.Event()


@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """`{"status": "healthy"}` when the database answers within three seconds, else 503 and `unhealthy`."""
    well = _passes(_database)
    return JsonResponse({"status": "healthy" if well else "unhealthy"}, status=200 if well else 503)


@never_cache
@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    """The process answers. Asks nothing else, so that a slow database does not get it restarted."""
    return JsonResponse({"status": "alive"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether requests can be served, part by part; what only narrows the service makes it `degraded`, not unready."""
    database = _passes(_database)
    migrations = database and _passes(_migrations)
    redis_answers = _passes(_redis)
    embeddings = _passes(_embeddings)
    checks: dict[str, Any] = {
        "database": _word(database),
        "migrations": _word(migrations),
        "redis": _word(redis_answers),
        "embeddings": "off" if settings.EMBEDDINGS_PROVIDER == "none" else _word(embeddings),
    }
    if migrations:
        checks["pendingEmbeddings"] = PendingEmbedding.objects.count()
    ready = database and migrations
    status = "unready" if not ready else "ready" if redis_answers and embeddings else "degraded"
    return JsonResponse({"status": status, "checks": checks}, status=200 if ready else 503)


def _word(passed: bool) -> str:
    return "ok" if passed else "failed"


def _passes(check: Callable[[], bool]) -> bool:
    """Whether a check holds within its budget; what is wrong goes to the log, not to the caller."""
    try:
        return bool(_probes.submit(check).result(BUDGET_SECONDS))
    except (TimedOut, DatabaseError, RedisError, OSError, ProviderUnavailable) as error:
        logger.warning("%s: %s", check.__name__.strip("_"), error or type(error).__name__)
        return False


def _database() -> bool:
    with lent_connection(), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return bool(cursor.fetchone() == (1,))


def _migrations() -> bool:
    # Once applied they stay applied for as long as this process runs its code.
    if not _migrated.is_set():
        with lent_connection():
            executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                return False
        _migrated.set()
    return True


def _redis() -> bool:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    finally:
        client.close()


def _embeddings() -> bool:
    get_embedder()
    return True
