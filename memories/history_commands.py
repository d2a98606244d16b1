"""What memories add to `bin/manage history`: verify, undo, erase and rebuild."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.models import User
from accounts.services.users import get_user
from core.errors import Invalid
from core.text import clean_moment, clean_uuid
from history.subcommands import Subcommand, add_space, register
from memories.services.erase import erase_memories
from memories.services.rebuild import rebuild_space
from memories.services.undo import UndoPlan, plan_undo, undo
from memories.services.verify import check_rows, repair_history, repair_rows
from spaces.access import AccessContext, Credential, SpaceAccess
from spaces.models import AccessLevel, Space
from spaces.services.provisioning import get_space

_SHORT = 10
_SIDES = ("history", "rows")


def command_access(user: User, space: Space) -> AccessContext:
    """The snapshot of an administrator who works with one space in the name of a person."""
    return AccessContext(
        user_id=user.id,
        email=user.email,
        display_name=user.display_name,
        role=user.role,  # type: ignore[arg-type]
        credential=Credential(surface="command"),
        spaces=(_reach(space),),
    )


def _reach(space: Space) -> SpaceAccess:
    return SpaceAccess(space.id, space.key, space.name, space.language, AccessLevel.READ_WRITE, is_default=True)


def _verify_arguments(parser: CommandParser) -> None:
    add_space(parser, required=False)
    parser.add_argument("--repair", choices=_SIDES, help="bring this side to what the other one says")
    parser.add_argument("--as", dest="person", help="address of the person who repairs")


def _verify(options: dict[str, Any]) -> Mapping[str, Any]:
    spaces = [get_space(options["space"])] if options["space"] else list(Space.objects.order_by("key"))
    repairs = {"history": repair_history, "rows": repair_rows}
    found = []
    for space in spaces:
        report = check_rows(_reach(space))
        if not report.is_well and options["repair"]:
            if not options["person"]:
                raise Invalid("A repair is done by somebody: name the person with --as.")
            access = command_access(get_user(options["person"]), space)
            repairs[options["repair"]](access, _reach(space))
            report = check_rows(_reach(space))
        found.append({"space": space.key, "is_well": report.is_well, **asdict(report)})
    return {"spaces": found}


def _describe_verify(result: Mapping[str, Any]) -> list[str]:
    lines = []
    for space in result["spaces"]:
        state = "rows and history agree" if space["is_well"] else "rows and history differ"
        lines.append(f"{space['space']}: {state}, {space['files']:,} files")
        for name, meaning in (
            ("missing", "not in the history"),
            ("surplus", "only in the history"),
            ("different", "says something else"),
            ("unreadable", "no file of a memory"),
        ):
            lines += [f"  {path}: {meaning}" for path in space[name]]
    return lines


def _undo_arguments(parser: CommandParser) -> None:
    add_space(parser)
    parser.add_argument("--as", dest="person", required=True, help="address of the person who undoes")
    parser.add_argument("--commit", help="commits by their ids, with commas between them")
    parser.add_argument("--by", help="what this person did: an address")
    parser.add_argument("--key", help="what was done with this key: its label")
    parser.add_argument("--since", help="from this time on: 2026-03-01T12:00")
    parser.add_argument("--until", help="up to this time")
    parser.add_argument("--reason", help="why, for the record")
    parser.add_argument("--apply", action="store_true", help="do it; without this it is only shown")


def _undo(options: dict[str, Any]) -> Mapping[str, Any]:
    space = get_space(options["space"])
    access = command_access(get_user(options["person"]), space)
    chosen: dict[str, Any] = {
        "commits": [commit for commit in (options["commit"] or "").split(",") if commit.strip()],
        "person": options["by"],
        "key_label": options["key"],
        "since": clean_moment(options["since"], "--since"),
        "until": clean_moment(options["until"], "--until"),
    }
    if options["apply"]:
        plan = undo(access, project=None, reason=options["reason"], **chosen)
    else:
        plan = plan_undo(access, project=None, **chosen)
    return {"space": space.key, "applied": options["apply"], **_told(plan)}


def _told(plan: UndoPlan) -> dict[str, Any]:
    return {**asdict(plan), "commits": list(plan.commits)}


def _describe_undo(result: Mapping[str, Any]) -> list[str]:
    lines = []
    for memory in result["memories"]:
        lines += memory["diff"]["text"].rstrip("\n").split("\n")
    lines += [f"Stays: {conflict['path']}: {conflict['reason']}" for conflict in result["conflicts"]]
    number, commits = len(result["memories"]), len(result["commits"])
    if result["applied"]:
        made = f" in commit {result['commit'][:_SHORT]}" if result["commit"] else ""
        lines.append(f"Took back {number} changed memories of {commits} commits{made}.")
    else:
        lines.append(f"Would take back {number} changed memories of {commits} commits; --apply does it.")
    return lines


def _rebuild_arguments(parser: CommandParser) -> None:
    add_space(parser)
    parser.add_argument("--from", dest="source", required=True, type=Path, help="a clone of the space's history")
    parser.add_argument("--as", dest="person", required=True, help="address of the person who rebuilds")


def _rebuild(options: dict[str, Any]) -> Mapping[str, Any]:
    space = get_space(options["space"])
    access = command_access(get_user(options["person"]), space)
    made = rebuild_space(access, _reach(space), options["source"])
    return {"space": space.key, **asdict(made)}


def _describe_rebuild(result: Mapping[str, Any]) -> list[str]:
    return [
        f"Rebuilt {result['space']}: {result['memories']:,} memories, {result['forgotten']:,} forgotten ones and "
        f"{result['versions']:,} versions from {result['commits']:,} commits."
    ]


def _erase_arguments(parser: CommandParser) -> None:
    add_space(parser)
    parser.add_argument("--memory", required=True, help="ids of memories or notes, with commas between them")
    parser.add_argument("--as", dest="person", required=True, help="address of the person who erases")
    parser.add_argument("--reason", required=True, help="why, for the record; it must not repeat what is erased")
    parser.add_argument("--apply", action="store_true", help="do it, for good; without this nothing is changed")


def _erase(options: dict[str, Any]) -> Mapping[str, Any]:
    space = get_space(options["space"])
    access = command_access(get_user(options["person"]), space)
    ids = {clean_uuid(text, "--memory") for text in options["memory"].split(",") if text.strip()}
    if not options["apply"]:
        return {"space": space.key, "applied": False, "memories": len(ids)}
    done = erase_memories(access, _reach(space), ids, reason=options["reason"])
    return {"space": space.key, "applied": True, **asdict(done)}


def _describe_erase(result: Mapping[str, Any]) -> list[str]:
    if not result["applied"]:
        return [f"Would erase {result['memories']:,} memories of {result['space']} for good; --apply does it."]
    lines = [
        f"Erased {result['memories']:,} memories with {result['versions']:,} versions and {result['documents']:,} "
        f"documents; {result['renamed_commits']:,} commits have another id now, and clones have to be made anew."
    ]
    shared = ", ".join(result["shared_documents"])
    return [*lines, *([f"These documents still hold text of other memories too: {shared}"] if shared else [])]


def register_subcommands() -> None:
    """Called once, when the application is ready."""
    register(
        "verify",
        Subcommand(
            "compare rows and files: of all spaces, or of one; and repair either side",
            _verify_arguments,
            _verify,
            _describe_verify,
            lambda result: all(space["is_well"] for space in result["spaces"]),
        ),
    )
    register(
        "undo",
        Subcommand("take back what commits, a person, a key or a time changed", _undo_arguments, _undo, _describe_undo),
    )
    register(
        "erase",
        Subcommand(
            "leave nothing of memories, for good, in rows and history", _erase_arguments, _erase, _describe_erase
        ),
    )
    register(
        "rebuild",
        Subcommand("fill an empty space from a clone alone", _rebuild_arguments, _rebuild, _describe_rebuild),
    )
