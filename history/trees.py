"""Working on trees: changing some files, listing all, comparing two. Nothing here knows where objects are kept.

Objects are read through a function that takes many ids at once and is asked once for each level of folders.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from core.errors import Invalid
from history.models import Kind
from history.objects import FILE_MODE, FOLDER_MODE, Entry, Tree, format_tree, object_id, parse_tree

# The bodies of trees by their ids.
ReadTrees = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]
_EMPTY_TREE = object_id(Kind.TREE, b"")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs between two trees; ids of the blobs, None where there is no such file."""

    path: str
    before: bytes | None
    after: bytes | None


@dataclass
class Edited:
    """A tree after changes: its id (None where there was no tree and still is none), its new folders, what differs."""

    root: bytes | None
    trees: dict[bytes, bytes] = field(default_factory=dict)
    changes: list[FileChange] = field(default_factory=list)


@dataclass
class _Folder:
    """The changes inside one folder, and what it holds so far."""

    path: str = ""
    files: dict[bytes, bytes | None] = field(default_factory=dict)
    folders: "dict[bytes, _Folder]" = field(default_factory=dict)
    entries: dict[bytes, Entry] = field(default_factory=dict)


def edit(read: ReadTrees, root: bytes | None, files: Mapping[str, bytes | None]) -> Edited:
    """The tree `root` with `files` (path to blob id, None deletes) changed; only folders on their paths are read.

    Deleting what is not there changes nothing. Raises `Invalid` when a path would be a file and a folder at once.
    """
    top = _arrange(files)
    _load(read, root, top)
    result = Edited(root)
    entries = _apply(top, result)
    if not result.changes:
        return Edited(root)
    result.root = _store(format_tree(entries), result)
    result.changes.sort(key=lambda change: change.path)
    return result


def _arrange(files: Mapping[str, bytes | None]) -> _Folder:
    top = _Folder()
    for path, oid in files.items():
        *folders, name = path.encode().split(b"/")
        folder = top
        for part in folders:
            inside = folder.folders.get(part)
            if inside is None:
                inside = folder.folders[part] = _Folder(f"{folder.path}{part.decode()}/")
            folder = inside
        folder.files[name] = oid
    return top


def _load(read: ReadTrees, root: bytes | None, top: _Folder) -> None:
    level = [(root, top)] if root is not None else []
    while level:
        bodies = read({oid for oid, _ in level})
        below = []
        for oid, folder in level:
            folder.entries = parse_tree(bodies[oid])
            for name, inside in folder.folders.items():
                entry = folder.entries.get(name)
                if entry is not None and entry.is_folder:
                    below.append((entry.oid, inside))
        level = below


def _apply(folder: _Folder, result: Edited) -> Tree:
    before = folder.entries
    entries = dict(before)
    for name, inside in folder.folders.items():
        content = _apply(inside, result)
        entry = before.get(name)
        if content:
            if entry is not None and not entry.is_folder and folder.files.get(name, b"") is not None:
                raise _both(inside.path.rstrip("/"))
            entries[name] = Entry(FOLDER_MODE, _store(format_tree(content), result))
        elif entry is not None and entry.is_folder:
            del entries[name]
    for name, oid in folder.files.items():
        old = before.get(name)
        previous = old.oid if old is not None and not old.is_folder else None
        now = entries.get(name)
        if now is not None and now.is_folder:
            if oid is not None:
                raise _both(folder.path + name.decode())
        elif oid is None:
            entries.pop(name, None)
        else:
            entries[name] = Entry(FILE_MODE, oid)
        if previous != oid:
            result.changes.append(FileChange(folder.path + name.decode(), previous, oid))
    return entries


def _store(body: bytes, result: Edited) -> bytes:
    oid = object_id(Kind.TREE, body)
    result.trees[oid] = body
    return oid


def _both(path: str) -> Invalid:
    return Invalid(f"{path!r} would be a file and a folder at once; move one of them first.")


def files_of(read: ReadTrees, root: bytes | None) -> Iterator[tuple[str, bytes]]:
    """Path and blob of every file, level by level."""
    level = [("", root)] if root is not None else []
    while level:
        bodies = read({oid for _, oid in level})
        below = []
        for prefix, oid in level:
            for name, entry in parse_tree(bodies[oid]).items():
                path = prefix + name.decode()
                if entry.is_folder:
                    below.append((path + "/", entry.oid))
                else:
                    yield path, entry.oid
        level = below


def compare(read: ReadTrees, before: bytes | None, after: bytes | None) -> list[FileChange]:
    """The files that differ, by path. Folders that are equal are not read."""
    changes = [
        FileChange(path, was.oid if was is not None else None, now.oid if now is not None else None)
        for path, was, now in differing(read, before, after)
    ]
    return sorted(changes, key=lambda change: change.path)


def differing(
    read: ReadTrees, before: bytes | None, after: bytes | None, *, most_folders: int | None = None
) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Path and entries of whatever differs and is no folder, level by level.

    Raises `Invalid` when a level has more than `most_folders` that differ: trees from outside may be folded so that a
    few of them unfold to more than any machine can hold.
    """
    level = [("", before, after)] if before != after else []
    while level:
        if most_folders is not None and len(level) > most_folders:
            raise Invalid(f"More than {most_folders:,} folders differ at once.")
        bodies = read({oid for _, *both in level for oid in both if oid is not None})
        below: list[tuple[str, bytes | None, bytes | None]] = []
        for prefix, *both in level:
            old, new = (parse_tree(bodies[oid]) if oid is not None else {} for oid in both)
            for name in old.keys() | new.keys():
                was, now = old.get(name), new.get(name)
                if was == now:
                    continue
                path = prefix + name.decode()
                inside = _oid(was), _oid(now)
                if inside != (None, None):
                    below.append((path + "/", *inside))
                was, now = _no_folder(was), _no_folder(now)
                if was is not None or now is not None:
                    yield path, was, now
        level = below


def _oid(entry: Entry | None) -> bytes | None:
    return entry.oid if entry is not None and entry.is_folder else None


def _no_folder(entry: Entry | None) -> Entry | None:
    return entry if entry is not None and not entry.is_folder else None


def file_in(read: ReadTrees, root: bytes | None, path: str) -> bytes | None:
    """The blob at `path`, or None."""
    oid = root
    *folders, name = path.encode("utf-8", "replace").split(b"/")
    for part in folders:
        entry = parse_tree(read([oid])[oid]).get(part) if oid is not None else None
        oid = entry.oid if entry is not None and entry.is_folder else None
    entry = parse_tree(read([oid])[oid]).get(name) if oid is not None else None
    return entry.oid if entry is not None and not entry.is_folder else None


def tree_of(files: Mapping[str, bytes]) -> bytes:
    """The id of the tree that holds exactly these blobs: what HEAD's tree must be when rows and history agree."""
    edited = edit(lambda oids: {}, None, files)
    return edited.root if edited.root is not None else _EMPTY_TREE
