"""No surface shows, counts or changes anything of a space to somebody outside of it.

The surfaces come from the registries. A new tool, resource, route or admin page fails `test_every_surface_is_walked`
until it is listed here with the arguments an outsider would try.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from guardian.shortcuts import assign_perm

from accounts.models import User
from documents.services.documents import create_document
from mcp_server.resources import RESOURCES
from mcp_server.tools import TOOLS
from memories.models import Edge, EmbeddingIndex, EmbeddingModel, Memory, PendingEmbedding, RelationType, Resolution
from memories.notes import Note
from memories.services.links import link_notes
from memories.services.notes import upsert_note
from memories.tests.factories import link, make_access, make_person, make_space, remember
from memory_site.api import api
from spaces.access import AccessContext
from spaces.models import Space
from tests.isolation.tables import contents

pytestmark = pytest.mark.leaks

MARK = "xylophone"


@dataclass(frozen=True)
class Owned:
    """A space that is none of the outsider's business; everything in it carries the mark."""

    space: Space
    access: AccessContext
    memory: Memory
    other: Memory
    edge: Edge
    note: Note
    other_note: Note

    @property
    def note_id(self) -> str:
        return str(self.note.id)

    @property
    def document_id(self) -> str:
        return str(self.memory.document_id)

    def snapshot(self) -> list[Any]:
        """Everything that an outsider could have changed: all rows of the space, and the space."""
        return [contents(self.space.id), Space.objects.filter(id=self.space.id).values_list().get()]


def owned() -> Owned:
    space = make_space(f"{MARK}-space")
    access = make_access(space, person=make_person(f"{MARK} person"))
    memory = remember(access, f"The {MARK} is kept in the attic.", category=f"{MARK}-category", source=f"{MARK}-source")
    other = remember(access, f"Nobody plays the {MARK} any more.")
    create_document(access, title=f"{MARK} manual", doc_type="text", content=f"How to tune a {MARK}.")
    source = {"type": "mail", "ref": f"{MARK}-mail"}
    note = upsert_note(
        access, project=None, topic=f"{MARK}/attic", title=f"{MARK} care", text=f"The {MARK} is dusted on Mondays.",
        tags=[f"{MARK}-tag"], sources=[source], follow_up="open",
    ).note  # fmt: skip
    other_note = upsert_note(
        access, project=None, topic=f"{MARK}/attic", title=f"{MARK} keys", text=f"The {MARK} has four octaves."
    ).note
    link_notes(access, note.id, other_note.id, "mentions", note=f"{MARK} mention")
    edge = link(memory, other, RelationType.UPDATES, note=f"{MARK} note")
    return Owned(space, access, memory, other, edge, note, other_note)


TOOL_ARGUMENTS: dict[str, Callable[[Owned], list[dict[str, Any]]]] = {
    "whoAmI": lambda o: [{}],
    "listSpaces": lambda o: [{}],
    "setActiveSpace": lambda o: [{"spaceKey": o.space.key}],
    "search_memory": lambda o: [
        {"query": "Where is the instrument kept?"},
        {"keyword": "attic"},
        {"category": o.memory.category},
        {"query": "instrument", "containerTag": o.space.key},
        {"keyword": "attic", "containerTag": o.space.key},
        {"category": o.memory.category, "containerTag": o.space.key},
        {"query": "instrument", "containerTag": str(o.space.id)},
    ],
    "add_memory": lambda o: [
        {"content": "Planted.", "containerTag": o.space.key},
        {"action": "forget", "memoryId": str(o.memory.id)},
        {"action": "forget", "memoryId": str(o.memory.id), "containerTag": o.space.key},
        {"action": "forget", "content": o.memory.text},
        {"action": "forget", "content": o.memory.text, "containerTag": o.space.key},
    ],
    "listMemories": lambda o: [{}, {"containerTag": o.space.key}],
    "listDocuments": lambda o: [{}, {"containerTag": o.space.key}],
    "getDocument": lambda o: [{"documentId": o.document_id}],
    "create_document": lambda o: [{"title": "t", "docType": "text", "content": "c", "containerTag": o.space.key}],
    "list_contested": lambda o: [
        {},
        {"resolved": True},
        {"containerTag": o.space.key},
        {"containerTag": o.space.key, "resolved": True},
    ],
    "resolve_contested": lambda o: [
        {"pairId": str(o.edge.id), "decision": "supersede", "reason": "r"},
        {"pairId": str(o.edge.id), "decision": "forget", "memoryId": str(o.memory.id), "reason": "r"},
        {"pairId": str(o.edge.id), "decision": "reopen"},
        {"pairId": str(o.edge.id), "decision": "keep_both", "reason": "r", "containerTag": o.space.key},
    ],
    "restore_memory": lambda o: [
        {"memoryId": str(o.memory.id)},
        {"memoryId": str(o.memory.id), "containerTag": o.space.key},
    ],
    "memory_search": lambda o: [
        {"query": "Where is the instrument kept?"},
        {"query": "dusted Mondays octaves"},
        {"tags": [o.note.tags[0]]},
        {"query": "dusted", "tags": [o.note.tags[0]]},
        {"query": "dusted", "project": o.space.key},
        {"query": "dusted", "project": o.space.key, "subtopic": o.note.topic},
    ],
    "memory_get": lambda o: [{"project": o.space.key}, {"project": o.space.key, "subtopic": o.note.topic}],
    "memory_upsert": lambda o: [
        {"project": o.space.key, "subtopic": o.note.topic, "title": o.note.title, "body_markdown": "Planted."},
        {"project": str(o.space.id), "subtopic": "x", "title": "x", "body_markdown": "Planted."},
    ],
    "memory_list_open": lambda o: [{}, {"project": o.space.key}],
    "memory_history": lambda o: [{"entry_id": o.note_id}],
    "memory_delete_entry": lambda o: [{"entry_id": o.note_id}],
    "memory_check_sources": lambda o: [
        {"source_type": "mail", "source_refs": ["other-mail"]},
        {"source_type": "mail", "source_refs": [f"{MARK}-mail"], "project": o.space.key},
    ],
    "memory_create_project": lambda o: [{"name": o.space.key, "sensitivity_level": "low"}],
    "memory_read": lambda o: [
        {"entry_id": o.note_id},
        {"entry_id": o.note_id, "version": 1},
        {"entry_id": str(o.memory.id)},
    ],
    "memory_list_projects": lambda o: [{}],
    "memory_list_topics": lambda o: [
        {"project": o.space.key},
        {"project": o.space.key, "subtopic": o.note.topic},
    ],
    "memory_move": lambda o: [{"entry_id": o.note_id, "subtopic": "elsewhere"}],
    "memory_restore": lambda o: [{"entry_id": o.note_id}, {"entry_id": o.note_id, "to_version": 1}],
    "memory_link_entries": lambda o: [
        {"from_entry_id": o.note_id, "to_entry_id": str(o.other_note.id), "relation_type": "same_as"},
        {"from_entry_id": str(o.memory.id), "to_entry_id": o.note_id, "relation_type": "supersedes"},
    ],
    "memory_unlink_entries": lambda o: [
        {"from_entry_id": o.note_id, "to_entry_id": str(o.other_note.id), "relation_type": "mentions"}
    ],
    "memory_get_related": lambda o: [{"entry_id": o.note_id}, {"entry_id": str(o.memory.id)}],
    "memory_find_similar": lambda o: [
        {"threshold": 0.1},
        {"threshold": 0.1, "auto_link": True},
        {"project": o.space.key, "threshold": 0.1},
    ],
    "memory_merge": lambda o: [{"entry_id": o.note_id, "other_entry_ids": [str(o.other_note.id)]}],
}

Request = tuple[str, str, dict[str, Any] | None]

ROUTES: dict[tuple[str, str], Callable[[Owned], list[Request]]] = {
    ("GET", "/me"): lambda o: [("GET", "/me", None)],
    ("PUT", "/me/active-space"): lambda o: [("PUT", "/me/active-space", {"spaceKey": o.space.key})],
    ("GET", "/spaces"): lambda o: [("GET", "/spaces", None)],
    ("GET", "/spaces/{space_key}"): lambda o: [("GET", f"/spaces/{o.space.key}", None)],
    ("POST", "/memories"): lambda o: [("POST", "/memories", {"content": "Planted.", "containerTag": o.space.key})],
    ("GET", "/memories"): lambda o: [
        ("GET", "/memories", None),
        ("GET", f"/memories?containerTag={o.space.key}", None),
        ("GET", f"/memories?category={o.memory.category}", None),
    ],
    ("POST", "/memories/forget"): lambda o: [
        ("POST", "/memories/forget", {"content": o.memory.text}),
        ("POST", "/memories/forget", {"content": o.memory.text, "containerTag": o.space.key}),
    ],
    ("GET", "/memories/{memory_id}"): lambda o: [("GET", f"/memories/{o.memory.id}", None)],
    ("DELETE", "/memories/{memory_id}"): lambda o: [("DELETE", f"/memories/{o.memory.id}", None)],
    ("GET", "/memories/{memory_id}/related"): lambda o: [("GET", f"/memories/{o.memory.id}/related", None)],
    ("POST", "/memories/{memory_id}/restore"): lambda o: [("POST", f"/memories/{o.memory.id}/restore", None)],
    ("GET", "/spaces/{space_key}/graph"): lambda o: [("GET", f"/spaces/{o.space.key}/graph", None)],
    ("GET", "/spaces/{space_key}/contested"): lambda o: [("GET", f"/spaces/{o.space.key}/contested", None)],
    ("POST", "/spaces/{space_key}/contested/{pair_id}/resolve"): lambda o: [
        ("POST", f"/spaces/{key}/contested/{o.edge.id}/resolve", {"decision": "supersede", "reason": "r"})
        for key in (o.space.key, "elsewhere")
    ],
    ("POST", "/spaces/{space_key}/contested/{pair_id}/reopen"): lambda o: [
        ("POST", f"/spaces/{key}/contested/{o.edge.id}/reopen", {}) for key in (o.space.key, "elsewhere")
    ],
    ("POST", "/spaces/{space_key}/undo"): lambda o: [
        ("POST", f"/spaces/{o.space.key}/undo", {"person": o.access.email}),
        ("POST", f"/spaces/{o.space.key}/undo", {"person": o.access.email, "apply": True}),
    ],
    ("GET", "/projects"): lambda o: [("GET", "/projects", None)],
    ("POST", "/projects"): lambda o: [
        ("POST", "/projects", {"name": o.space.key, "sensitivityLevel": "low"}),
    ],
    ("PATCH", "/projects/{project}"): lambda o: [
        ("PATCH", f"/projects/{o.space.key}", {"name": "Taken over", "sensitivityLevel": "low"})
    ],
    ("GET", "/projects/{project}/topics"): lambda o: [("GET", f"/projects/{o.space.key}/topics", None)],
    ("GET", "/projects/{project}/notes"): lambda o: [
        ("GET", f"/projects/{o.space.key}/notes", None),
        ("GET", f"/projects/{o.space.key}/notes?deleted=true", None),
    ],
    ("PUT", "/projects/{project}/notes"): lambda o: [
        ("PUT", f"/projects/{o.space.key}/notes", {"title": o.note.title, "bodyMarkdown": "Planted."})
    ],
    ("GET", "/follow-ups"): lambda o: [
        ("GET", "/follow-ups", None),
        ("GET", f"/follow-ups?project={o.space.key}", None),
    ],
    ("POST", "/notes/search"): lambda o: [
        ("POST", "/notes/search", {"query": "dusted Mondays"}),
        ("POST", "/notes/search", {"tags": [o.note.tags[0]]}),
        ("POST", "/notes/search", {"query": "dusted", "project": o.space.key, "subtopic": o.note.topic}),
    ],
    ("POST", "/similar-notes"): lambda o: [
        ("POST", "/similar-notes", {"threshold": 0.1, "autoLink": True}),
        ("POST", "/similar-notes", {"threshold": 0.1, "project": o.space.key}),
    ],
    ("GET", "/notes/{note_id}"): lambda o: [("GET", f"/notes/{i}", None) for i in (o.note.id, o.memory.id)],
    ("PATCH", "/notes/{note_id}"): lambda o: [("PATCH", f"/notes/{o.note.id}", {"title": "Planted"})],
    ("DELETE", "/notes/{note_id}"): lambda o: [("DELETE", f"/notes/{o.note.id}", None)],
    ("POST", "/notes/{note_id}/restore"): lambda o: [("POST", f"/notes/{o.note.id}/restore", {"toVersion": 1})],
    ("GET", "/notes/{note_id}/versions"): lambda o: [("GET", f"/notes/{o.note.id}/versions", None)],
    ("GET", "/notes/{note_id}/versions/{number}"): lambda o: [("GET", f"/notes/{o.note.id}/versions/1", None)],
    ("POST", "/notes/{note_id}/merge"): lambda o: [
        ("POST", f"/notes/{o.note.id}/merge", {"otherEntryIds": [str(o.other_note.id)]})
    ],
    ("GET", "/notes/{note_id}/links"): lambda o: [("GET", f"/notes/{o.note.id}/links", None)],
    ("PUT", "/notes/{note_id}/links"): lambda o: [
        ("PUT", f"/notes/{o.note.id}/links", {"toEntryId": str(o.memory.id), "relationType": "supersedes"})
    ],
    ("DELETE", "/notes/{note_id}/links/{relation_type}/{to_id}"): lambda o: [
        ("DELETE", f"/notes/{o.note.id}/links/mentions/{o.other_note.id}", None)
    ],
    ("POST", "/sources/check"): lambda o: [
        ("POST", "/sources/check", {"sourceType": "mail", "sourceRefs": ["other-mail"]}),
        ("POST", "/sources/check", {"sourceType": "mail", "sourceRefs": [], "project": o.space.key}),
    ],
    ("POST", "/search"): lambda o: [
        ("POST", "/search", {"query": "instrument"}),
        ("POST", "/search", {"keyword": "attic", "containerTag": o.space.key}),
    ],
    ("GET", "/search"): lambda o: [("GET", f"/search?keyword=attic&containerTag={o.space.key}", None)],
    ("GET", "/graph"): lambda o: [("GET", "/graph", None), ("GET", f"/graph?containerTag={o.space.key}", None)],
    ("GET", "/jobs"): lambda o: [("GET", "/jobs", None), ("GET", f"/jobs?containerTag={o.space.key}", None)],
    ("POST", "/jobs/retry"): lambda o: [
        ("POST", "/jobs/retry", {}),
        ("POST", "/jobs/retry", {"containerTag": o.space.key}),
    ],
    ("POST", "/documents"): lambda o: [
        ("POST", "/documents", {"title": "t", "docType": "text", "content": "c", "containerTag": o.space.key})
    ],
    ("GET", "/documents"): lambda o: [
        ("GET", "/documents", None),
        ("GET", f"/documents?containerTag={o.space.key}", None),
    ],
    ("GET", "/documents/{document_id}"): lambda o: [("GET", f"/documents/{o.document_id}", None)],
}

ADMIN_PAGES = {
    "accounts.user", "accounts.apikey", "auth.group", "spaces.space", "documents.document", "memories.memory",
    "memories.edge", "memories.contestedpair", "memories.resolution", "memories.pendingembedding",
    "documents.pendingdocument", "memories.embeddingindex", "memories.embeddingmodel",
}  # fmt: skip


def routes() -> set[tuple[str, str]]:
    return {
        (method, "/" + path.strip("/"))
        for prefix, router in api._routers
        for path, view in router.path_operations.items()
        for operation in view.operations
        for method in operation.methods
    }


def test_every_surface_is_walked():
    assert set(TOOL_ARGUMENTS) == set(TOOLS)
    assert set(ROUTES) == routes()
    assert {model._meta.label_lower for model in admin.site._registry} == ADMIN_PAGES
    assert set(RESOURCES) == {f"memory-mcp://{name}" for name in ("profile", "spaces", "memories", "graph")}


def assert_shows_nothing(text: str, asked: Any, secret: Owned) -> None:
    """The answer holds nothing of the space that the outsider did not send along."""
    sent = json.dumps(asked, ensure_ascii=False, default=str)
    ids = (secret.memory.id, secret.document_id, secret.space.id, secret.edge.id, secret.note.id, secret.other_note.id)
    for part in (MARK, "attic", *map(str, ids)):
        if part not in sent:
            assert part not in text, (part, text[:500])
        else:
            # What was asked for may be repeated once, in the sentence that refuses it.
            assert text.count(part) <= sent.count(part), text[:500]


def test_no_admin_page_leaks_to_the_manager_of_another_space(db):
    secret = owned()
    model, _ = EmbeddingModel.objects.get_or_create(slug="m", defaults={"dimensions": 3})
    PendingEmbedding.objects.create(space=secret.space, model=model, memory=secret.memory)
    EmbeddingIndex.objects.create(space=secret.space, model=model, name=f"{MARK}-index")
    Resolution.objects.create(
        space=secret.space, edge=secret.edge, decision="keep_both", reason=f"{MARK} reason", resolved_via="mcp"
    )
    user = User.objects.create_user("manager@example.org", "a long password", is_staff=True)
    assign_perm("manage_space", user, make_space("managed"))
    client = Client()
    client.force_login(user)
    before = secret.snapshot()
    for registered in admin.site._registry:
        page = f"admin:{registered._meta.app_label}_{registered._meta.model_name}"
        for query in ("", f"?q={MARK}", f"?space__id__exact={secret.space.id}"):
            text = client.get(reverse(f"{page}_changelist") + query).content.decode()
            assert MARK not in text.replace(f'value="{MARK}"', "").replace(f"q={MARK}", ""), (page, query)
        for row in registered._default_manager.all()[:20]:
            if row in (user, Space.objects.get(key="managed")):
                continue
            for action in ("change", "history", "delete"):
                answer = client.get(reverse(f"{page}_{action}", args=[row.pk]))
                assert answer.status_code in (302, 403, 404), (page, action)
                assert MARK not in answer.content.decode()
    lookup = reverse("admin:autocomplete")
    for app, name, field in (("spaces", "spaceuserpermission", "user"), ("spaces", "spacegrant", "space")):
        answer = client.get(lookup, {"app_label": app, "model_name": name, "field_name": field, "term": MARK})
        assert MARK not in answer.content.decode()
    assert secret.snapshot() == before
