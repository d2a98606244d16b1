"""Resources: what an agent can read without a call, always of the active space."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_types import Resource as ListedResource

from core.wire import fit_texts
from memories.graph import recent_graph
from memories.queries import list_memories, profile
from memories.wire import WireGraph, WireMemory, WireMemoryPage
from spaces.access import AccessContext
from spaces.queries import space_summaries
from spaces.wire import WireSpace

MIME_TYPE = "application/json"


@dataclass(frozen=True)
class Resource:
    """A resource at a fixed address; `read` gives JSON-ready data for the caller."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[AccessContext], Any]

    def listed(self) -> ListedResource:
        return ListedResource(
            uri=self.uri, name=self.name, title=self.title, description=self.description, mime_type=MIME_TYPE
        )

    def text(self, access: AccessContext) -> str:
        return json.dumps(self.read(access), ensure_ascii=False)


def _profile(access: AccessContext) -> Any:
    memories = [WireMemory.of(memory) for memory in profile(access.space(None))]
    fit_texts(memories)
    return [memory.dump() for memory in memories]


def _spaces(access: AccessContext) -> Any:
    return [WireSpace.of(summary).dump() for summary in space_summaries(access)]


def _memories(access: AccessContext) -> Any:
    return WireMemoryPage.of(list_memories(access)).dump()


def _graph(access: AccessContext) -> Any:
    return WireGraph.of(recent_graph(access.space(None))).dump()


RESOURCES = {
    resource.uri: resource
    for resource in (
        Resource(
            "memory-mcp://profile",
            "profile",
            "Profile",
            "The 5 newest active memories of the active space.",
            _profile,
        ),
        Resource("memory-mcp://spaces", "spaces", "Spaces", "The spaces this key can use, with counts.", _spaces),
        Resource(
            "memory-mcp://memories",
            "memories",
            "Memories",
            "The first page of the active space's memories, forgotten ones too.",
            _memories,
        ),
        Resource(
            "memory-mcp://graph",
            "graph",
            "Graph",
            "The 50 newest memories of the active space and the edges among them.",
            _graph,
        ),
    )
}
