"""Files of memories: whatever a memory says, its file gives it back; what is no such file is refused."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from history.paths import validate_path
from memories.note_files import (
    FileEntry,
    FileLink,
    fact_path,
    file_path,
    note_path,
    parse,
    parse_topic,
    render,
    render_topic,
)
from spaces.models import MAXIMUM_TOPIC_DEPTH
from spaces.slugs import parse_optional_path, path_of, slug_of

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
LINE = TEXT.map(lambda text: " ".join(text.split())).filter(bool)
LINKS = st.builds(FileLink, relation=st.sampled_from(["causes", "supersedes"]), to=st.uuids(), note=st.none() | LINE)


@given(
    text=TEXT,
    title=LINE,
    tags=st.lists(LINE, max_size=4),
    sources=st.lists(LINE, max_size=3),
    links=st.lists(LINKS, max_size=3),
    follow_up=st.none() | st.sampled_from(["open", "waiting"]),
    person=LINE,
)
def test_a_note_comes_back_as_it_was(text, title, tags, sources, links, follow_up, person):
    entry = FileEntry(
        id=uuid.uuid4(), text=text, title=title, topic="a/b", slug="c", tags=tags, sources=sources, links=links,
        follow_up=follow_up, status="outdated", version=7, created_at="2026-03-01T12:00:00+00:00", created_by=person,
        created_via="mcp", updated_at="2026-03-01T12:00:00+00:00", updated_by=person,
    )  # fmt: skip
    assert parse(render(entry), "a/b/c.md") == entry


@given(text=TEXT, category=st.none() | LINE, source=st.none() | LINE)
def test_a_fact_comes_back_as_it_was(text, category, source):
    entry = FileEntry(
        id=uuid.uuid4(), text=text, category=category, source=source, tags=[], sources=[], links=[], version=1
    )
    assert parse(render(entry), file_path(entry)) == entry


@given(name=LINE)
def test_the_name_of_a_topic_comes_back(name):
    assert parse_topic(render_topic(name)) == name


@given(path=st.text(max_size=60), title=st.text(max_size=300))
def test_every_path_that_is_taken_can_stand_in_a_history(path, title):
    try:
        levels = parse_optional_path(path)
    except Invalid:
        return
    slug = slug_of(title, maximum=128)
    assert len(levels) <= MAXIMUM_TOPIC_DEPTH
    if levels and slug:
        assert validate_path(note_path(path_of(levels), slug))
        # What was returned is taken, and means the same.
        assert path_of(parse_optional_path(path_of(levels))) == path_of(levels)
        assert slug_of(slug, maximum=128) == slug


def test_facts_stand_in_small_folders():
    identifier = uuid.UUID("1b4e28ba-2fa1-41d2-883f-0016d3cca427")
    assert fact_path(identifier) == f"memories/1/b/4/{identifier}.md"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"no front matter", "must begin with front matter"),
        (b"---\ntitle: a\n", "not closed"),
        (b"---\ntitle: [a\n---\n\nx\n", "not valid YAML"),
        (b"---\n- a\n---\n\nx\n", "name: value"),
        (b"---\na: &x [1]\ntags: *x\n---\n\nx\n", "references"),
        (b"---\ntags: {a: b}\n---\n\nx\n", "must be a list"),
        (b"---\nid: nobody\n---\n\nx\n", "no id"),
        (b"---\nversion: soon\n---\n\nx\n", "whole number"),
        (b"---\ntitle: [a]\n---\n\nx\n", "must be text"),
        (b"---\nlinks: [a]\n---\n\nx\n", "list of links"),
        (b"---\ntitle: !!python/object:os.system x\n---\n\nx\n", "not valid YAML"),
        (b"---\ntitle: " + b"a" * 300_000 + b"\n---\n\nx\n", "too long"),
        (b"---\nt: " + b"[" * 5_000 + b"\n---\n\nx\n", "not valid YAML"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_what_is_no_such_file_is_refused(data, problem):
    with pytest.raises(Invalid, match=problem):
        parse(data, "a/b.md")


def test_a_text_that_begins_like_front_matter_survives():
    entry = FileEntry(
        id=uuid.uuid4(), text="---\ntitle: x\n---\n", title="A", topic="a", slug="a", tags=[], sources=[], links=[]
    )
    assert parse(render(entry), "a/a.md") == entry


def test_hand_written_files_need_no_quotes():
    entry = parse(b"---\ntitle: 2026-03-01\ntags: [a, 12]\n---\nText", "a/b.md")
    assert (entry.title, entry.tags, entry.text) == ("2026-03-01", ["a", "12"], "Text")
