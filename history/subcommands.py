"""What `bin/manage history` can do. Apps that keep files in a history add to it when they are ready:

register("verify", Subcommand("compare rows and files", add_arguments, perform, describe))
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.errors import Conflict
from history.checks import check_history
from history.mirror import export
from history.queries import DEFAULT_LIMIT, LogEntry, blame, diff, log, show
from spaces.models import Space
from spaces.services.provisioning import get_space

Result = Mapping[str, Any]
_SHORT = 10


@dataclass(frozen=True)
class Subcommand:
    """One action. `perform` gives JSON-ready data, `describe` tells it in lines; `is_well` decides the exit code."""

    help: str
    add_arguments: Callable[[CommandParser], None]
    perform: Callable[[dict[str, Any]], Result]
    describe: Callable[[Result], list[str]]
    is_well: Callable[[Result], bool] = lambda result: True


SUBCOMMANDS: dict[str, Subcommand] = {}


def register(name: str, subcommand: Subcommand) -> None:
    """Raises `Conflict` when there is one of that name."""
    if name in SUBCOMMANDS:
        raise Conflict(f"There is a subcommand {name} of history already.")
    SUBCOMMANDS[name] = subcommand


def add_space(parser: CommandParser, *, required: bool = True) -> None:
    parser.add_argument("--space", required=required, help="the key of the space")


def _add_commit(parser: CommandParser) -> None:
    parser.add_argument("--commit", help="its id or the first digits of it; the newest when left out")


def _entry(entry: LogEntry) -> dict[str, Any]:
    return {**asdict(entry), "moment": entry.moment.isoformat()}


def _line(entry: Mapping[str, Any]) -> str:
    subject = str(entry["message"]).partition("\n")[0]
    return f"{entry['oid'][:_SHORT]}  {entry['moment'][:16]}  {entry['author_name']}  {subject}"


def _log_arguments(parser: CommandParser) -> None:
    add_space(parser)
    parser.add_argument("--path", help="only commits that changed this file, or something in this folder")
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="how many")
    parser.add_argument("--before", help="only commits older than this one")


def _log(options: dict[str, Any]) -> Result:
    space = get_space(options["space"])
    entries = log(space.id, path=options["path"], limit=options["limit"], before=options["before"])
    return {"space": space.key, "commits": [_entry(entry) for entry in entries]}


def _describe_log(result: Result) -> list[str]:
    return [_line(entry) for entry in result["commits"]] or ["No commits."]


def _show_arguments(parser: CommandParser) -> None:
    add_space(parser)
    _add_commit(parser)


def _show(options: dict[str, Any]) -> Result:
    space = get_space(options["space"])
    shown = show(space.id, options["commit"])
    difference = diff(space.id, None, shown.entry.oid)
    return {
        "space": space.key,
        **_entry(shown.entry),
        "changes": shown.change_count,
        "files": [asdict(file) for file in difference.files],
    }


def _describe_show(result: Result) -> list[str]:
    lines = [f"commit {result['oid']}", f"Author: {result['author_name']} <{result['author_email']}>"]
    lines += [f"Date:   {result['moment']}", "", *(f"    {line}" for line in result["message"].split("\n")), ""]
    lines += [f"    {name}: {value}" for name, value in result["trailers"].items()]
    for file in result["files"]:
        lines += [*file["text"].rstrip("\n").split("\n"), *(["(cut)"] if file["is_cut"] else [])]
    if result["changes"] > len(result["files"]):
        lines.append(f"({result['changes'] - len(result['files'])} more files)")
    return lines


def _blame_arguments(parser: CommandParser) -> None:
    add_space(parser)
    parser.add_argument("--path", required=True, help="the file")
    _add_commit(parser)


def _blame(options: dict[str, Any]) -> Result:
    space = get_space(options["space"])
    lines = blame(space.id, options["path"], options["commit"])
    return {
        "space": space.key,
        "path": options["path"],
        "lines": [
            {"number": line.number, "text": line.text, "commit": line.entry.oid, "author": line.entry.author_name}
            for line in lines
        ],
    }


def _describe_blame(result: Result) -> list[str]:
    return [
        f"{line['commit'][:_SHORT]}  {line['author'][:20]:20} {line['number']:5}  {line['text']}"
        for line in result["lines"]
    ]


def _fsck_arguments(parser: CommandParser) -> None:
    add_space(parser, required=False)


def _fsck(options: dict[str, Any]) -> Result:
    spaces = [get_space(options["space"])] if options["space"] else list(Space.objects.order_by("key"))
    return {"spaces": [{"space": space.key, **asdict(check_history(space.id))} for space in spaces]}


def _describe_fsck(result: Result) -> list[str]:
    lines = []
    for space in result["spaces"]:
        state = "damaged" if space["problems"] else "whole"
        lines.append(f"{space['space']}: {state}, {space['commits']:,} commits, {space['objects']:,} objects")
        lines += [f"  {problem}" for problem in space["problems"]]
    return lines


def _export_arguments(parser: CommandParser) -> None:
    add_space(parser)
    parser.add_argument("--to", required=True, type=Path, help="the folder to make")


def _export(options: dict[str, Any]) -> Result:
    space = get_space(options["space"])
    target = options["to"].absolute()
    return {"space": space.key, "path": str(target), "commits": export(space.id, target)}


def _describe_export(result: Result) -> list[str]:
    return [f"Wrote {result['commits']:,} commits of {result['space']} to {result['path']} (a bare git repository)."]


register("log", Subcommand("list the commits of a space", _log_arguments, _log, _describe_log))
register("show", Subcommand("one commit with what it changed", _show_arguments, _show, _describe_show))
register("blame", Subcommand("who wrote which line of a file", _blame_arguments, _blame, _describe_blame))
register(
    "fsck",
    Subcommand(
        "check that histories are whole: all of them, or that of one space",
        _fsck_arguments,
        _fsck,
        _describe_fsck,
        lambda result: not any(space["problems"] for space in result["spaces"]),
    ),
)
register(
    "export", Subcommand("write a history into a bare git repository", _export_arguments, _export, _describe_export)
)
