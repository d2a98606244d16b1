"""What can be asked about the caller's spaces: one query, however many there are."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound
from spaces.models import Space


@dataclass(frozen=True)
class SpaceSummary:
    """A space as its user sees it: the effective level, all documents, and the active memories."""

    space: SpaceAccess
    document_count: int
    memory_count: int


def space_summaries(access: AccessContext) -> Sequence[SpaceSummary]:
    """The caller's spaces in the order of their grants, with counts."""
    documents = Space.objects.filter(id=OuterRef("id")).annotate(number=Count("documents")).values("number")
    rows = (
        Space.objects.filter(id__in=[space.id for space in access.spaces])
        .annotate(document_count=Subquery(documents), memory_count=Coalesce("statistics__memory_count", 0))
        .values_list("id", "document_count", "memory_count")
    )
    with bound(access):
        counts = {identifier: (documents_there, memories_there) for identifier, documents_there, memories_there in rows}
    return [
        SpaceSummary(space, *counts[space.id])
        for space in access.spaces
        # A space deleted since the snapshot was taken is not there any more.
        if space.id in counts
    ]
