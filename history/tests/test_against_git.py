"""Trees, ids and changes are those that real git makes of the same files."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from history.models import MAIN, Kind
from history.objects import object_id
from history.tests import git
from history.trees import compare, edit, files_of, tree_of

# Names that sort differently as file and as folder, several scripts, and what looks like an option.
NAMES = st.sampled_from(["a", "a.md", "a-b", "a0", "A", "b", "ä", "日本", "-x", "a b", "z", "deep"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


def _without_clashes(files):
    """Files whose path is no folder of another one."""
    return {path: text for path, text in files.items() if not any(other.startswith(path + "/") for other in files)}


FILES = st.dictionaries(PATHS, st.binary(max_size=30), max_size=12).map(_without_clashes)


class Trees:
    """Objects in memory."""

    def __init__(self):
        self.bodies = {}
        self.asked = 0

    def read(self, oids):
        self.asked += 1
        return {oid: self.bodies[oid] for oid in oids}

    def write(self, root, files):
        blobs = {path: None if text is None else object_id(Kind.BLOB, text) for path, text in files.items()}
        edited = edit(self.read, root, blobs)
        self.bodies.update(edited.trees)
        return edited


def git_tree(files):
    """The tree that git writes of these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git.run(root, "init", "-q")
        stream = b"".join(
            b"blob\nmark :%d\ndata %d\n%b\n" % (number, len(text), text)
            for number, text in enumerate(files.values(), 1)
        )
        stream += b"commit %b\ncommitter T <t@x> 1 +0000\ndata 1\nm\n" % MAIN.encode()
        for number, path in enumerate(files, 1):
            stream += b'M 100644 :%d "%b"\n' % (number, path.encode())
        git.run(root, "fast-import", "--quiet", stdin=stream)
        return git.run(root, "rev-parse", f"{MAIN}^{{tree}}").strip()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=FILES, after=FILES)
def test_any_files_have_gits_tree_and_any_change_leads_there(before, after):
    trees = Trees()
    first = trees.write(None, before)
    gone = dict.fromkeys(before.keys() - after.keys())
    second = trees.write(first.root, {**gone, **after})
    assert (second.root or tree_of({})).hex() == git_tree(after)
    assert dict(files_of(trees.read, second.root)) == {p: object_id(Kind.BLOB, t) for p, t in after.items()}
    differing = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
    assert [change.path for change in second.changes] == differing
    assert compare(trees.read, first.root, second.root) == second.changes


def test_only_folders_on_changed_paths_are_read_one_level_at_a_time():
    trees = Trees()
    first = trees.write(
        None, {f"{a}/{b}/{c}.md": f"{a}{b}{c}".encode() for a in "0123" for b in "0123" for c in "0123"}
    )
    trees.asked = 0
    second = trees.write(first.root, {"0/1/2.md": b"new", "3/1/2.md": b"new"})
    assert trees.asked == 3
    assert len(second.trees) == 5


def test_a_folder_of_thousands_sorts_as_git_sorts():
    files = {f"{number:x}/in.md" if number % 7 == 0 else f"{number:x}.md": b"" for number in range(5000)}
    assert Trees().write(None, files).root.hex() == git_tree(files)
