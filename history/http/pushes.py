"""What a client pushes, as git's protocol writes it: commands before the pack, and a report of what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from core.errors import Invalid
from core.text import excerpt
from history.models import MAIN

# Commands of one push: a push of all branches of a large repository has some thousands.
_MOST_COMMANDS = 1000
_LONGEST_LINE = 65_520
_NOTHING = "0" * 40


@dataclass(frozen=True)
class Command:
    """One ref that the client wants moved; `new` is zeros to delete it."""

    old: str
    new: str
    ref: str


@dataclass(frozen=True)
class Commands:
    """The commands of a push, and what the client understands of the answer."""

    commands: Sequence[Command]
    capabilities: frozenset[str]

    def require_main(self) -> None:
        """Raises `Invalid` when anything but main is to be moved, or main is to be deleted."""
        for command in self.commands:
            if command.ref != MAIN:
                shown = excerpt(command.ref.removeprefix("refs/heads/"), 100)
                raise Invalid(f"Only the branch main is kept here, so {shown} was not pushed, nor anything with it.")
            if command.new == _NOTHING:
                raise Invalid("The history of a space is kept: main cannot be deleted.")


def read_commands(body: IO[bytes]) -> Commands:
    """The commands at the beginning of a push; the file is left at its start. Raises `Invalid` when they are none."""
    commands: list[Command] = []
    capabilities: frozenset[str] = frozenset()
    while (line := _read_line(body)) is not None:
        text, _, rest = line.partition(b"\x00")
        words = text.decode("utf-8", "replace").rstrip("\n").split(" ", 2)
        if words[0] == "shallow":
            continue
        if len(words) != 3 or len(commands) >= _MOST_COMMANDS:
            raise Invalid("This is not what git sends to push.")
        if not commands:
            capabilities = frozenset(rest.decode("utf-8", "replace").split())
        commands.append(Command(*words))
    body.seek(0)
    return Commands(commands, capabilities)


def told(commands: Commands, sentence: str) -> bytes:
    """A sentence that the client prints as `remote: …`, to stand before the report; nothing where it knows no such."""
    if "side-band-64k" not in commands.capabilities:
        return b""
    return _packet(b"\x02" + sentence.encode() + b"\n")


def refusal_report(commands: Commands, sentence: str) -> bytes:
    """The report that nothing was taken, with the reason."""
    reason = " ".join(sentence.split())
    lines = [_packet(b"unpack ok\n")]
    lines += [_packet(f"ng {command.ref} {reason}\n".encode()) for command in commands.commands]
    report = b"".join(lines) + b"0000"
    if not commands.capabilities & {"report-status", "report-status-v2"}:
        report = b""
    if "side-band-64k" not in commands.capabilities:
        return report
    pieces = [report[at : at + _LONGEST_LINE - 5] for at in range(0, len(report), _LONGEST_LINE - 5)]
    return told(commands, reason) + b"".join(_packet(b"\x01" + piece) for piece in pieces) + b"0000"


def _packet(content: bytes) -> bytes:
    return b"%04x%b" % (len(content) + 4, content)


def _read_line(body: IO[bytes]) -> bytes | None:
    digits = body.read(4)
    try:
        length = int(digits, 16) if len(digits) == 4 else -1
    except ValueError:
        length = -1
    if length == 0:
        return None
    line = body.read(length - 4) if 4 < length <= _LONGEST_LINE else b""
    if len(line) != length - 4:
        raise Invalid("This is not what git sends to push.")
    return line
