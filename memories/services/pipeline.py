"""Processing stored documents: split the text into facts, embed them, and store all of it in one transaction.

    process_next()                                 # a worker: the document whose turn it is
    process_document(space_id, document_id)        # this one, where no worker can be told

Providers are called between transactions. Whatever they answer, the text ends up as memories: as its facts, or as it
is when it could not be split; then the splitting is tried again for a while, and waits for an administrator after that.
"""

import logging
import uuid
from datetime import datetime

from django.db import IntegrityError
from django.utils import timezone

from core.errors import ProviderUnavailable
from documents.models import PendingDocument, Stage
from memories.embedding.service import split_passages
from memories.extraction.base import Candidate, Fact
from memories.extraction.service import get_extractor
from memories.models import Memory
from memories.search.service import MAXIMUM_QUERY, search
from memories.search.similar import similarities
from memories.services.claims import Turns, held, lease, postpone, retry_delay
from memories.services.embeddings import ActiveModel, model_or_none, owe_embedding
from memories.services.facts import Found, store_facts
from memories.services.handover import announce
from memories.services.jobs import Job, read_job
from memories.services.outcome import Outcome
from memories.services.record import recording
from memories.services.save import embed_now_or_later
from memories.services.settling import fail, lock_row, settle
from memories.services.statements import content_hash, new_memory, term_context
from memories.services.terms import add_terms
from spaces.isolation import bound

logger = logging.getLogger(__name__)

# Memories that a text is compared with. A paragraph of several facts touches more of them than one statement does.
CANDIDATES = 10
# Attempts at a document, and at splitting one that is kept whole meanwhile.
MOST_ATTEMPTS = 5
# After so many attempts that never came to their end, the text is kept whole without asking any provider.
TRUSTED_INTERRUPTIONS = 3
# Other saves of the same facts at the same moment.
_COLLISIONS = 5

_turns = Turns()


def process_next() -> bool:
    """Process the document whose turn it is; False when none is due. Safe to run in several processes."""
    rows = PendingDocument.objects.all()
    claimed = [row for row in _turns.claim(rows, limit=1) if isinstance(row, PendingDocument)]
    for row in claimed:
        _process(row)
    return bool(claimed)


def process_document(space_id: uuid.UUID, document_id: uuid.UUID) -> bool:
    """Process one document unless another process is at it; returns whether it was processed here."""
    with bound(space_id):
        rows = PendingDocument.objects.filter(
            space_id=space_id, document_id=document_id, failed_at__isnull=True, next_attempt_at__lte=timezone.now()
        )
        claimed = lease(list(rows.select_for_update(skip_locked=True)))
    for row in claimed:
        _process(row)
    return bool(claimed)


def _process(row: PendingDocument) -> None:
    job = read_job(row)
    if job is None:
        postpone(row, "Its author was deleted before it was processed.", gives_up=True)
        return
    try:
        with held([row]):
            _work(job)
    except Exception:
        identifier = uuid.uuid4().hex[:12]
        logger.exception("processing document %s failed, error %s", row.document_id, identifier)
        reason = f"Something went wrong on the server (error {identifier})."
        if row.attempts >= MOST_ATTEMPTS:
            with bound(job.space):
                fail(job, reason)
        else:
            postpone(row, reason)
    announce(row.document_id)


def _work(job: Job) -> None:
    extractor = get_extractor()
    if extractor is None:
        _keep_whole(job, Stage.OFF)
        return
    if job.row.interruptions > TRUSTED_INTERRUPTIONS:
        _keep_whole(job, Stage.FAILED, reason="Splitting this text ended its worker again and again.", gives_up=True)
        return
    try:
        candidates = _recall(job)
        facts = extractor.extract(job.text, candidates)
    except ProviderUnavailable as error:
        gives_up = error.permanent or job.row.attempts >= MOST_ATTEMPTS
        _keep_whole(job, Stage.FAILED, reason=error.message, gives_up=gives_up, tries_again=not gives_up)
        return
    if not facts:
        _keep_whole(job, Stage.NOTHING, reason="No fact was found in the text, so it was kept as it is.")
        return
    found = _embed(job, candidates, facts)
    for collision in range(_COLLISIONS):
        try:
            store_facts(job, found)
            break
        except IntegrityError:
            if collision == _COLLISIONS - 1:
                raise


def _recall(job: Job) -> list[Candidate]:
    """The memories that the text may act on: of the caller's category, if one was given."""
    result = search(
        job.access,
        query=job.text[:MAXIMUM_QUERY],
        category=job.row.category,
        include_profile=False,
        limit=CANDIDATES,
    )
    memories = (match.memory for match in result.matches)
    return [
        Candidate(memory.id, memory.text, memory.category)
        for memory in memories
        # Its own text, kept whole until now, is no memory that it could update.
        if memory.document_id != job.document.id
    ]


def _embed(job: Job, candidates: list[Candidate], facts: list[Fact]) -> Found:
    """The vectors of the facts, and how alike they are to what they may act on."""
    model = model_or_none()
    if model is None:
        return Found(candidates, facts, reason=_unmeasured(facts, "no embedding model is in use"))
    passages = [split_passages(fact.text, model.embedder.spec) for fact in facts]
    try:
        flat = iter(model.embedder.embed_passages([passage for some in passages for passage in some]))
    except ProviderUnavailable as error:
        return Found(candidates, facts, model=model, reason=_unmeasured(facts, error.message))
    vectors = [[next(flat) for _ in some] for some in passages]
    targets = {relation.target for fact in facts for relation in fact.relations}
    similarity = similarities(job.space, model.row_id, vectors, list(targets)) if targets else [{} for _ in facts]
    return Found(candidates, facts, model=model, vectors=vectors, similarity=similarity)


def _unmeasured(facts: list[Fact], why: str) -> str:
    if not any(fact.relations for fact in facts):
        return ""
    return f"Nothing was superseded, since it could not be measured how alike the memories are: {why}"


def _keep_whole(
    job: Job, extraction: Stage, *, reason: str = "", gives_up: bool = False, tries_again: bool = False
) -> None:
    """The text becomes one memory, in its own words; of one that is kept whole already, only the state is written."""
    again_at = timezone.now() + retry_delay(job.row.attempts) if tries_again else None
    model = model_or_none()
    memory: Memory | None = None
    for collision in range(_COLLISIONS):
        try:
            memory = _store_whole(job, model, extraction, reason, again_at, gives_up=gives_up)
            break
        except IntegrityError:
            if collision == _COLLISIONS - 1:
                raise
    if memory is not None:
        embed_now_or_later(memory, model)


def _store_whole(
    job: Job,
    model: ActiveModel | None,
    extraction: Stage,
    reason: str,
    again_at: datetime | None,
    *,
    gives_up: bool,
) -> Memory | None:
    now = timezone.now()
    with recording(job.access, job.space.id, "Save a memory") as record:
        if not lock_row(job):
            return None
        outcome, memory = None, None
        if job.is_first:
            digest = content_hash(job.text, job.row.category)
            twin = Memory.objects.in_space(job.space).facts().filter(content_hash=digest).first()
            if twin is None:
                memory = new_memory(
                    job.access, job.document, job.text, now, category=job.row.category, source=job.row.source
                )
                memory.save(force_insert=True)
                owe_embedding(memory, model)
                outcome = Outcome(memories=(memory.id,))
            else:
                outcome = Outcome(memories=(twin.id,), known=1)
        settle(job, extraction=extraction, outcome=outcome, reason=reason, again_at=again_at, keep_failed=gives_up)
        if memory is not None:
            add_terms(memory, job.space.language, term_context(job.access.display_name, now))
            record.created(memory.id)
    return memory
