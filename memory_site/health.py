"""Whether the server lives, is ready, and is well: three questions, three addresses, no names of hosts or tenants."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TimedOut
from typing import Any, TypeVar

import redis
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db import Error as DatabaseFailure
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from core.asgi import Scope, Send
from core.concurrency import PROBES
from core.database import lent_connection
from core.errors import ProviderUnavailable
from memories.jobs import JobNumbers, Jobs, count_jobs
from memories.services.searched_model import searched_problem
from spaces.isolation import every_space, is_enforced

logger = logging.getLogger(__name__)

# A database that takes longer than this to say hello is not there for the people waiting.
BUDGET_SECONDS = 3
# Work that is older than this is not being worked on, or its provider is down.
STUCK_SECONDS = 900
# Threads that hang on a dead database are not waited for; more than these cannot hang at once.
_probes = ThreadPoolExecutor(PROBES, thread_name_prefix="health")
_migrated = threading.Event()
Answer = TypeVar("Answer")


@csrf_exempt
@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """`{"status": "healthy"}` when the database answers within three seconds, else 503 and `unhealthy`."""
    well = _passes(_database)
    return JsonResponse({"status": "healthy" if well else "unhealthy"}, status=200 if well else 503)


async def livez(scope: Scope, send: Send) -> None:
    """The process answers. An ASGI application that takes no thread and asks nothing else, so that neither a slow
    database nor a crowd of requests gets it restarted."""
    is_safe = scope["method"] in ("GET", "HEAD")
    body = b'{"status": "alive"}' if is_safe else b""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store") if is_safe else (b"allow", b"GET, HEAD"),
    ]
    await send({"type": "http.response.start", "status": 200 if is_safe else 405, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@csrf_exempt
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether requests can be served, part by part; what only narrows the service makes it `degraded`, not unready."""
    database = _passes(_database)
    migrations = database and _passes(_migrations)
    redis_answers = _passes(_redis)
    isolated = migrations and _passes(_isolation)
    embeddings = migrations and _passes(_embeddings)
    jobs = _answer(_jobs) if migrations else None
    checks: dict[str, Any] = {
        "database": _word(database),
        "migrations": _word(migrations),
        "isolation": _word(isolated),
        "redis": _word(redis_answers),
        "embeddings": "off" if settings.EMBEDDINGS_PROVIDER == "none" else _word(embeddings),
    }
    if jobs is not None:
        checks["pendingEmbeddings"] = jobs.embeddings.waiting + jobs.embeddings.running
        checks["jobs"] = {name: _told(numbers) for name, numbers in _by_kind(jobs)}
    works = jobs is None or not any(_is_stuck(numbers) for _, numbers in _by_kind(jobs))
    ready = database and migrations
    status = "unready" if not ready else "ready" if isolated and redis_answers and embeddings and works else "degraded"
    return JsonResponse({"status": status, "checks": checks}, status=200 if ready else 503)


def _word(passed: bool) -> str:
    return "ok" if passed else "failed"


def _passes(check: Callable[[], bool]) -> bool:
    """Whether a check holds within its budget."""
    return bool(_answer(check))


def _answer(question: Callable[[], Answer]) -> Answer | None:
    """What a question is answered within its budget, else None; what is wrong goes to the log, not to the caller."""
    waiting = _probes.submit(question)
    try:
        return waiting.result(BUDGET_SECONDS)
    except (TimedOut, DatabaseFailure, RedisError, OSError, ProviderUnavailable) as error:
        # One that never got a thread must not wait in line for ever.
        waiting.cancel()
        logger.warning("%s: %s", question.__name__.strip("_"), str(error) or type(error).__name__)
        return None


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


def _isolation() -> bool:
    with lent_connection():
        return is_enforced()


def _jobs() -> Jobs:
    with lent_connection(), every_space():
        return count_jobs()


def _by_kind(jobs: Jobs) -> tuple[tuple[str, JobNumbers], ...]:
    return ("documents", jobs.documents), ("embeddings", jobs.embeddings)


def _told(numbers: JobNumbers) -> dict[str, int]:
    told = {"waiting": numbers.waiting, "running": numbers.running, "failed": numbers.failed}
    return told if numbers.oldest_seconds is None else {**told, "oldestSeconds": numbers.oldest_seconds}


def _is_stuck(numbers: JobNumbers) -> bool:
    """Whether an administrator should look: something failed for good, or nobody has worked for long."""
    return numbers.failed > 0 or (numbers.oldest_seconds or 0) > STUCK_SECONDS


def _redis() -> bool:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    finally:
        client.close()


def _embeddings() -> bool:
    with lent_connection():
        problem = searched_problem()
    if problem is not None:
        # It names a model and settings: for administrators, who find it in the admin too.
        logger.warning("embeddings: %s", problem)
    return problem is None
