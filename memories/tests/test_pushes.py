"""Notes edited in a clone and pushed with git: normal changes of notes, or a push refused whole with the reason."""

import pytest

from core.errors import NotFound
from history.queries import head, log
from history.tests import git
from memories.models import Edge, Memory
from memories.notes import list_notes, note_history, read_note
from memories.queries import get_memory
from memories.search.service import search
from memories.services.verify import check_rows
from memories.tests.factories import make_access, make_key, make_person, make_space, remember
from memories.tests.notes import write
from spaces.models import AccessLevel


@pytest.fixture
def space(site, settings, tmp_path):
    settings.MEMORY_HOME = tmp_path / "home"
    return make_space("team")


@pytest.fixture
def access(space):
    return make_access(space)


@pytest.fixture
def clone(site, space, tmp_path):
    """Makes a clone with a key of its own."""

    def cloned(name="copy", level=AccessLevel.READ_WRITE):
        key = make_key(make_person("Grace"), space, level=level).secret
        git.run(tmp_path, "clone", "-q", f"{site.replace('http://', f'http://x:{key}@')}/git/team.git", name)
        return tmp_path / name

    return cloned


def change(copy, path, text=None, *, former=None):
    target = copy / path
    if former:
        target.parent.mkdir(parents=True, exist_ok=True)
        git.run(copy, "mv", former, path)
    if text is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    elif not former:
        git.run(copy, "rm", "-q", path)
    git.run(copy, "add", "-A")


def push(copy, message="Edited", *, fails=False):
    git.run(copy, "commit", "-q", "-m", message)
    said = git.run(copy, "push", "origin", "main", fails=fails)
    if not fails:
        git.run(copy, "pull", "-q", "--rebase")
    return said


def test_an_edited_file_is_the_next_version_of_its_note(access, space, clone):
    note = write(
        access, "Hours", "Six.", tags=["a"], sources=[{"type": "mail", "ref": "1"}, {"type": "mail", "ref": "2"}]
    )
    copy = clone()
    text = (copy / "office/hours.md").read_text()
    text = text.replace("Six.", "Seven giraffes.").replace("- a", "- A\n- zoo").replace('- "mail:2"\n', "")
    change(copy, "office/hours.md", text.replace("status: current", "status: outdated\nfollow_up: open"))
    push(copy, "Giraffes come later")
    changed = read_note(access, note.id)
    assert (changed.text, changed.tags, changed.status, changed.follow_up, changed.version, changed.updated_by) == (
        "Seven giraffes.", ("a", "zoo"), "outdated", "open", 2, "Grace",
    )  # fmt: skip
    assert [str(source) for source in changed.sources] == ["mail:1"]
    assert note_history(access, note.id)[0].surface == "git"
    assert log(space.id)[0].message == "Giraffes come later"
    assert [match.memory.id for match in search(access, keyword="giraffes").matches] == [note.id]
    assert check_rows(access.space(None)).is_well


def test_files_are_made_renamed_moved_and_deleted(access, clone):
    note, other = write(access, "Hours"), write(access, "Other", topic="other")
    copy = clone()
    change(copy, "front-desk/opening-hours.md", former="office/hours.md")
    moved = copy / "front-desk/opening-hours.md"
    change(copy, "front-desk/opening-hours.md", moved.read_text().replace("title: Hours", "title: Opening hours"))
    change(copy, "other/other.md")
    change(
        copy, "a/b/new-note.md", f"---\ntitle: New note\nlinks:\n- {{relation: causes, to: {note.id}}}\n---\n\nHello.\n"
    )
    push(copy)
    assert (read_note(access, note.id).topic, read_note(access, note.id).title) == ("front-desk", "Opening hours")
    with pytest.raises(NotFound):
        read_note(access, other.id)
    (new,) = list_notes(access, project=None, topic="a").items
    assert (new.title, new.text, new.created_by, new.version) == ("New note", "Hello.", "Grace", 1)
    assert Edge.objects.get().to_memory_id == note.id
    assert (copy / "a/b/new-note.md").read_text().startswith("---\nid: ")
    assert check_rows(access.space(None)).is_well


def test_a_supersedes_in_a_file_outdates_the_other_note(access, clone):
    new, old = write(access, "New"), write(access, "Old")
    copy = clone()
    text = (copy / "office/new.md").read_text()
    change(copy, "office/new.md", text.replace("version:", f"links:\n- relation: supersedes\n  to: {old.id}\nversion:"))
    push(copy)
    assert read_note(access, old.id).status == "outdated"
    change(copy, "office/new.md", text)
    push(copy)
    assert not Edge.objects.exists()
    assert check_rows(access.space(None)).is_well
    assert read_note(access, new.id).version == 3


def test_a_fact_is_forgotten_by_deleting_its_file_and_never_edited(access, space, clone):
    fact = remember(access, "The alarm code is 4711.")
    copy = clone()
    (path,) = [str(found.relative_to(copy)) for found in copy.glob("memories/*/*/*/*.md")]
    change(copy, path, (copy / path).read_text().replace("4711", "0000"))
    assert "folder of facts" in push(copy, fails=True)
    git.run(copy, "reset", "-q", "--hard", "origin/main")
    change(copy, path)
    push(copy)
    assert not get_memory(access, fact.id).is_active
    assert check_rows(access.space(None)).is_well


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("a/new.md", "no front matter", "a/new.md must begin with front matter"),
        ("a/new.md", "---\ntitle: [\n---\n", "not valid YAML"),
        ("a/new.md", "---\ntitle: Other\n---\n", "must be called other.md"),
        ("a/new.md", "---\n{}\n---\n", "title must not be empty"),
        ("A b/new.md", "---\ntitle: New\n---\n", "must stand in a folder"),
        ("new.md", "---\ntitle: New\n---\n", "must stand in a folder"),
        ("edit/new.md", "---\ntitle: New\n---\n", "reserved"),
        ("a/new.md", "---\nid: 1b4e28ba-2fa1-41d2-883f-0016d3cca427\ntitle: New\n---\n", "no note of this space"),
        ("a/new.md", "---\nid: NOTE\ntitle: New\n---\n", "have the same id"),
        ("a/new.md", "---\nid: FACT\ntitle: New\n---\n", "id of a fact"),
        ("a/new.md", "---\ntitle: New\nstatus: wrong\n---\n", "status must be"),
        ("a/new.md", "---\ntitle: New\ntags: x\n---\n", "must be a list"),
        ("a/new.md", "---\ntitle: New\nsources: [mail]\n---\n", "source"),
        ("a/new.md", "---\ntitle: New\nlinks: [{relation: likes, to: NOTE}]\n---\n", "relation_type must be"),
        (
            "a/new.md",
            "---\ntitle: New\nlinks: [{relation: fixes, to: 1b4e28ba-2fa1-41d2-883f-0016d3cca427}]\n---\n",
            "was not found",
        ),
    ],
)
def test_one_bad_file_refuses_the_whole_push(access, space, clone, path, text, reason):
    note, fact = write(access, "Hours", "Six."), remember(access, "A fact.")
    copy = clone()
    before = head(space.id)
    hours = copy / "office/hours.md"
    change(copy, "office/hours.md", hours.read_text().replace("Six.", "Seven."))
    change(copy, path, text.replace("NOTE", str(note.id)).replace("FACT", str(fact.id)))
    assert reason in " ".join(push(copy, fails=True).replace("remote:", " ").split())
    assert head(space.id) == before
    assert read_note(access, note.id).text == "Six."
    assert Memory.objects.count() == 2


def test_a_copy_of_a_file_that_stays_is_refused_while_it_has_the_id(access, clone):
    note = write(access, "Hours")
    copy = clone()
    change(copy, "a/copy.md", f"---\nid: {note.id}\ntitle: Copy\n---\n")
    assert "has the id of the note at" in " ".join(push(copy, fails=True).replace("remote:", " ").split())


def test_a_note_of_another_space_is_not_taken_by_its_id(access, clone):
    theirs = write(make_access(), "Theirs", "Secret.")
    write(access, "Hours")
    copy = clone()
    change(copy, "a/theirs.md", f"---\nid: {theirs.id}\ntitle: Theirs\n---\n\nMine now.\n")
    assert "no note of this space" in " ".join(push(copy, fails=True).replace("remote:", " ").split())
    assert Memory.objects.get(id=theirs.id).text == "Secret."


def test_readers_do_not_push(access, clone):
    note = write(access, "Hours", "Six.")
    copy = clone(level=AccessLevel.READ)
    change(copy, "office/hours.md", (copy / "office/hours.md").read_text().replace("Six.", "Seven."))
    push(copy, fails=True)
    assert read_note(access, note.id).text == "Six."
