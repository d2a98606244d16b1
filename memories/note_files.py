"""Memories as files of a history: front matter that is enough to rebuild the row, then the text as it is.

path = file_path(entry)          # notes: topic/…/slug.md; facts: memories/<a>/<b>/<c>/<id>.md
data = render(entry)             # bytes; parse(data) gives the same entry back
"""

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import yaml

from core.errors import Invalid

FACTS_FOLDER = "memories"
TOPIC_FILE = ".topic.yaml"
MAXIMUM_FRONT_MATTER = 200_000
_FENCE = "---"
# A word that YAML reads as itself whatever surrounds it; everything else is written between quotes.
_PLAIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ][\wÀ-ÖØ-öø-ÿ]*(?:[ /-][\wÀ-ÖØ-öø-ÿ]+)*", re.ASCII)
_WORDS_OF_YAML = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# What YAML does not take as it is, even between quotes.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class FileLink:
    """A link from this memory to another one."""

    relation: str
    to: uuid.UUID
    note: str | None = None
    created_at: str | None = None
    created_by: str | None = None


@dataclass(frozen=True)
class FileEntry:
    """A memory as its file tells it. Times are ISO 8601 in UTC, people “Name <address>”.

    `topic` is the path of a note's topic and None for a fact; `source` and `document` are of facts, `sources` are
    written “type:reference”.
    """

    id: uuid.UUID | None
    text: str
    title: str | None = None
    topic: str | None = None
    slug: str | None = None
    category: str | None = None
    source: str | None = None
    document: str | None = None
    tags: Sequence[str] = ()
    sources: Sequence[str] = ()
    links: Sequence[FileLink] = ()
    status: str = "current"
    follow_up: str | None = None
    version: int = 1
    created_at: str | None = None
    created_by: str | None = None
    created_via: str | None = None
    updated_at: str | None = None
    updated_by: str | None = None


def fact_path(identifier: uuid.UUID) -> str:
    """Where the file of a fact stands: three levels of folders keep each of them small."""
    digits = identifier.hex
    return f"{FACTS_FOLDER}/{digits[0]}/{digits[1]}/{digits[2]}/{identifier}.md"


def note_path(topic: str, slug: str) -> str:
    return f"{topic}/{slug}.md"


def file_path(entry: FileEntry) -> str:
    """The path of an entry that has an id."""
    if entry.topic is not None and entry.slug is not None:
        return note_path(entry.topic, entry.slug)
    if entry.id is None:
        raise Invalid("A fact has an id.")
    return fact_path(entry.id)


def render(entry: FileEntry) -> bytes:
    """The file of an entry. Fields that are empty are left out."""
    front: dict[str, Any] = {
        "id": str(entry.id) if entry.id else None,
        "title": entry.title,
        "topic": entry.topic,
        "category": entry.category,
        "tags": list(entry.tags),
        "source": entry.source,
        "sources": list(entry.sources),
        "document": entry.document,
        "status": entry.status if entry.title is not None else None,
        "follow_up": entry.follow_up,
        "links": [_link(link) for link in entry.links],
        "version": entry.version,
        "created": entry.created_at,
        "created_by": entry.created_by,
        "created_via": entry.created_via,
        "updated": entry.updated_at,
        "updated_by": entry.updated_by,
    }
    lines = [_FENCE, *_lines({name: value for name, value in front.items() if value not in (None, [])}), _FENCE, ""]
    return ("\n".join(lines) + "\n" + entry.text + "\n").encode()


def render_topic(name: str) -> bytes:
    """The file that keeps the name of a topic."""
    return f"name: {_scalar(name)}\n".encode()


def parse_topic(data: bytes) -> str | None:
    """The name in a topic's file, None when there is none."""
    found = _load(data.decode("utf-8", "replace"), "the topic's file")
    name = found.get("name")
    return name if isinstance(name, str) else None


def parse(data: bytes, path: str) -> FileEntry:
    """The entry in a file at `path`, which gives a note its topic and slug.

    Raises `Invalid` that names what cannot be read.
    """
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid(f"{path} is not valid UTF-8.") from None
    content = content.replace("\r\n", "\n", content.count("\r\n") if content.startswith("---\r\n") else 0)
    front, text = _split(content, path)
    folder, _, name = path.rpartition("/")
    is_fact = path.startswith(FACTS_FOLDER + "/")
    identifier = _identifier(front.get("id"), path)
    return FileEntry(
        id=identifier,
        text=text,
        title=None if is_fact else _text(front, "title", path),
        topic=None if is_fact else folder,
        slug=None if is_fact else name.removesuffix(".md"),
        category=_text(front, "category", path),
        source=_text(front, "source", path),
        document=_text(front, "document", path),
        tags=_texts(front, "tags", path),
        sources=_texts(front, "sources", path),
        links=_links(front.get("links"), path),
        status=_text(front, "status", path) or "current",
        follow_up=_text(front, "follow_up", path),
        version=_number(front.get("version"), path),
        created_at=_text(front, "created", path),
        created_by=_text(front, "created_by", path),
        created_via=_text(front, "created_via", path),
        updated_at=_text(front, "updated", path),
        updated_by=_text(front, "updated_by", path),
    )


def moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


class _Loader(yaml.SafeLoader):
    """Plain data without references: a few lines of those can stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("references (*name) are not allowed")
        return super().compose_node(parent, index)


# Times and numbers that stand in a title are text: only whole numbers, truth values and nothing are read as more.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":float", ":merge"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _load(text: str, where: str) -> dict[str, Any]:
    if len(text) > MAXIMUM_FRONT_MATTER:
        raise Invalid(f"The front matter of {where} is too long: at most {MAXIMUM_FRONT_MATTER:,} characters.")
    try:
        loaded = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = str(error).replace("\n", " ")[:200]
        raise Invalid(f"The front matter of {where} is not valid YAML: {problem}.") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise Invalid(f"The front matter of {where} must consist of “name: value” lines.")
    return loaded


def _split(content: str, path: str) -> tuple[dict[str, Any], str]:
    if not content.startswith(_FENCE + "\n"):
        raise Invalid(f"{path} must begin with front matter: a line “---”, the fields, and another line “---”.")
    end = content.find(f"\n{_FENCE}\n", len(_FENCE))
    if end < 0:
        raise Invalid(f"The front matter of {path} is not closed by a line “---”.")
    text = content[end + len(_FENCE) + 2 :]
    return _load(content[len(_FENCE) + 1 : end + 1], path), text.removeprefix("\n").removesuffix("\n")


def _link(link: FileLink) -> dict[str, str]:
    fields = {
        "relation": link.relation,
        "to": str(link.to),
        "note": link.note,
        "created": link.created_at,
        "created_by": link.created_by,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _lines(fields: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, value in fields.items():
        if isinstance(value, list):
            lines.append(f"{name}:")
            for item in value:
                inner = _lines(item) if isinstance(item, dict) else [_scalar(item)]
                lines += [f"{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(inner)]
        else:
            lines.append(f"{name}: {value if isinstance(value, int) else _scalar(value)}")
    return lines


def _scalar(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _text(front: Mapping[str, Any], name: str, path: str) -> str | None:
    value = front.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise Invalid(f"{name} in the front matter of {path} must be text.")


def _texts(front: Mapping[str, Any], name: str, path: str) -> list[str]:
    value = front.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Invalid(f"{name} in the front matter of {path} must be a list.")
    return [_text({name: item}, name, path) or "" for item in value]


def _number(value: object, path: str) -> int:
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    raise Invalid(f"version in the front matter of {path} must be a whole number.")


def _identifier(value: object, path: str) -> uuid.UUID | None:
    if value is None:
        return None
    try:
        return uuid.UUID(str(value))
    except ValueError:
        raise Invalid(f"id in the front matter of {path} is no id.") from None


def _links(value: object, path: str) -> list[FileLink]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Invalid(f"links in the front matter of {path} must be a list of links.")
    found = []
    for item in value:
        to, relation = _identifier(item.get("to"), path), _text(item, "relation", path)
        if to is None or relation is None:
            raise Invalid(f"A link in the front matter of {path} needs “relation” and “to”.")
        found.append(
            FileLink(
                relation=relation,
                to=to,
                note=_text(item, "note", path),
                created_at=_text(item, "created", path),
                created_by=_text(item, "created_by", path),
            )
        )
    return found
