"""Erasing memories for good: rows, versions, links, documents, and every trace in the history. For law only.

erase_memories(access, space, [memory_id], reason="Request of 3 March")
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from core.errors import AppError, NotFound
from core.text import clean_line
from documents.models import Document
from history.services.attribution import author_of
from history.services.commits import lock
from history.services.erase import contents_with, erase
from memories.models import Edge, Memory, Version
from memories.note_files import parse, render
from memories.services.entries import Desk
from memories.services.record import recording
from spaces.access import AccessContext, SpaceAccess
from spaces.isolation import bound

MAXIMUM_REASON = 500


@dataclass(frozen=True)
class ErasedMemories:
    """How much is gone: memories, their versions, documents that held nothing else; and the commits with new ids.

    `shared_documents` still hold text that other memories come from as well; they are not touched.
    """

    memories: int
    versions: int
    documents: int
    shared_documents: Sequence[str]
    renamed_commits: int
    commit: str


def erase_memories(
    access: AccessContext, space: SpaceAccess, memory_ids: Collection[uuid.UUID], *, reason: str
) -> ErasedMemories:
    """Leave nothing of these memories, active or not, in rows or history. Cannot be taken back.

    Raises `NotFound` when one of them is not in the space, `Invalid` without a reason.
    """
    ids = set(memory_ids)
    reason = clean_line(reason, "reason", maximum=MAXIMUM_REASON)
    with bound(space):
        lock(space.id)
        rows = Memory.objects.in_space(space).filter(id__in=ids)
        if not ids or rows.count() != len(ids):
            raise NotFound("One of these memories is not in the space.")
        _take_out(access, space, ids)
        versions = Version.objects.in_space(space).filter(memory_id__in=ids)
        paths = set(versions.exclude(path="").values_list("path", flat=True))
        titles = set(versions.exclude(title=None).values_list("title", flat=True))
        done = erase(
            space.id,
            _contents(space, ids),
            names=[*titles, *(path.removesuffix(".md") for path in paths)],
            author=author_of(access),
            reason=reason,
            moment=timezone.now(),
        )
        _rename(space, done.renamed)
        documents = set(rows.exclude(document=None).values_list("document_id", flat=True))
        count = versions.count()
        rows.delete()
        others = Memory.objects.in_space(space).filter(document_id__in=documents)
        shared = set(others.values_list("document_id", flat=True))
        Document.objects.in_space(space).filter(id__in=documents - shared).delete()
    return ErasedMemories(
        memories=len(ids),
        versions=count,
        documents=len(documents - shared),
        shared_documents=sorted(str(identifier) for identifier in shared),
        renamed_commits=len(done.renamed),
        commit=done.commit,
    )


def _take_out(access: AccessContext, space: SpaceAccess, ids: set[uuid.UUID]) -> None:
    """Out of search and out of the newest tree, with the links of others to them."""
    with recording(access, space.id, "Take out what is erased") as record:
        desk = Desk(access, space, record=record)
        for identifier in ids:
            desk.take_out(identifier, reason="erased")
        edges = Edge.objects.in_space(space).filter(Q(from_memory__in=ids) | Q(to_memory__in=ids))
        record.relinked(*(set(edges.values_list("from_memory_id", flat=True)) - ids))
        edges.delete()


def _contents(space: SpaceAccess, ids: set[uuid.UUID]) -> dict[bytes, bytes | None]:
    """Files of the memories go; those of others that linked to them lose the links, in all their versions."""
    contents: dict[bytes, bytes | None] = {}
    for oid, body in contents_with(space.id, [str(identifier).encode() for identifier in ids]):
        try:
            entry = parse(body, "memories/")
        except AppError:
            continue
        without = replace(entry, links=[link for link in entry.links if link.to not in ids])
        if entry.id in ids:
            contents[oid] = None
        elif len(without.links) != len(entry.links):
            contents[oid] = render(without)
    return contents


def _rename(space: SpaceAccess, renamed: Mapping[str, str]) -> None:
    """Versions name the commits by their new ids."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_version v SET commit = new.id FROM unnest(%s::text[], %s::text[]) AS new (former, id) "
            "WHERE v.space_id = %s AND v.commit = new.former",
            [list(renamed), list(renamed.values()), space.id],
        )
