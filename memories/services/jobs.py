"""The work on one document, as it was claimed: the text, and on whose behalf it is saved."""

import uuid
from dataclasses import dataclass

from accounts.models import Role
from documents.models import Document, PendingDocument, Status
from spaces.access import AccessContext, Credential, SpaceAccess
from spaces.isolation import bound
from spaces.models import AccessLevel, Space


@dataclass(frozen=True)
class Job:
    """One claimed document. `access` reaches its space only; `is_first` until a memory says what it says."""

    row: PendingDocument
    document: Document
    access: AccessContext
    space: SpaceAccess

    @property
    def text(self) -> str:
        return self.document.raw_content

    @property
    def is_first(self) -> bool:
        return bool(self.document.status != Status.PROCESSED)


def read_job(row: PendingDocument) -> Job | None:
    """What a claimed row is about; None when its author was deleted in the meantime. One query."""
    with bound(_space_id(row)):
        rows = Document.objects.select_related("space", "created_by", "created_by_key")
        document: Document | None = rows.filter(id=row.document_id, space_id=row.space_id).first()
    if document is None or document.created_by is None:
        return None
    space = _space_access(document.space)
    key = document.created_by_key
    access = AccessContext(
        user_id=document.created_by.id,
        email=document.created_by.email,
        display_name=document.created_by.display_name,
        role=Role(document.created_by.role),
        credential=Credential(
            surface=document.created_via, id=key.id if key is not None else None, label=key.label if key else ""
        ),
        spaces=(space,),
    )
    return Job(row=row, document=document, access=access, space=space)


def _space_access(space: Space) -> SpaceAccess:
    """The right to write was checked when the text was taken; what was acknowledged is carried out."""
    return SpaceAccess(
        id=space.id, key=space.key, name=space.name, language=space.language, level=AccessLevel.READ_WRITE,
        is_default=True,
    )  # fmt: skip


def _space_id(row: PendingDocument) -> uuid.UUID:
    space_id: uuid.UUID = row.space_id
    return space_id
