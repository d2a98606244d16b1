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
    return Owned(space, access, memory, other, link(memory, other, RelationType.UPDATES, note=f"{MARK} note"))


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
    for part in (MARK, "attic", str(secret.memory.id), secret.document_id, str(secret.space.id), str(secret.edge.id)):
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
