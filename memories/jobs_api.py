"""Work that waits, over REST: the same numbers as in the admin and in /readyz."""

from typing import Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query

from core.rest import RestBody, RestQuery, WireRouter
from core.wire import Moment, WireModel
from memories.jobs import list_jobs
from memories.services.retries import retry_failed
from spaces.rest import access_of

router = WireRouter(tags=["Jobs"])


class JobFilters(RestQuery):
    container_tag: str | None = None
    limit: int = 10


class RetryRequest(RestBody):
    """Which space's failed work to try again; left out, that of all spaces this key can write to."""

    container_tag: str | None = None


class WireJobNumbers(WireModel):
    """How much work of one kind there is; `oldestSeconds` is the age of the oldest that has not failed."""

    waiting: int
    running: int
    failed: int
    oldest_seconds: int | None = None


class WireFailedJob(WireModel):
    """Work that is set aside until somebody asks for a retry."""

    kind: Literal["document", "embedding"]
    space_key: str
    document_id: UUID | None = None
    memory_id: UUID | None = None
    reason: str
    attempts: int
    failed_at: Moment


class WireJobs(WireModel):
    """Documents to process and embeddings to make, and what failed, latest first."""

    documents: WireJobNumbers
    embeddings: WireJobNumbers
    failed: list[WireFailedJob]


class WireRetried(WireModel):
    """How many pieces of failed work will be tried again."""

    retried: int


@router.get("/jobs", response=WireJobs, summary="Work that waits")
def get_jobs(request: HttpRequest, filters: Query[JobFilters]) -> WireJobs:
    """What waits, runs and failed, in one space or in all that this key can read."""
    return WireJobs.model_validate(list_jobs(access_of(request), **filters.dict()))


@router.post("/jobs/retry", response=WireRetried, summary="Try failed work again")
def post_retry(request: HttpRequest, payload: RetryRequest) -> WireRetried:
    """Try again everything that failed, in one space or in all that this key can write to."""
    return WireRetried(retried=retry_failed(access_of(request), **payload.dict()))
