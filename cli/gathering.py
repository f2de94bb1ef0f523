"""Reading the parts of a ``check`` that were run by themselves, and holding them against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.events import Done, Event, Finished, Planned, PlannedCheck, Ready
from judge_tui.checks.typed import from_json
from judge_tui.checks.verdict import Outcome
from judge_tui.cli.sharding import ShardHead

__all__ = ["Part", "events_of", "gathered", "read_part"]

_MOST_BYTES = 1 << 30


class _End(msgspec.Struct, frozen=True):
    """The last line of a part."""

    shard: str
    outcomes: int


class _Setting(msgspec.Struct, frozen=True):
    """What the first line says of where it ran."""

    schema: int
    tool: str
    backend: str = ""
    device: str = ""
    sandbox: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of several.

    Attributes:
        file: Where it stands.
        head: What it is.
        setting: Where it ran.
        outcomes: What it found.
        whole: Whether it ran to its end.
    """

    file: Path
    head: ShardHead
    setting: _Setting
    outcomes: tuple[Outcome, ...]
    whole: bool


def read_part(file: Path) -> Part:
    """Read the lines of one part; one that was killed may end within a line.

    Raises:
        WorkspaceError: It cannot be read, or has a line that is none of a part; says which.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=file) from error
    first, _newline, rest = data.partition(b"\n")
    try:
        head = from_json(first, ShardHead)
        setting = from_json(first, _Setting)
        if head.part.number < 1:
            raise ValueError(head.shard)
    except (msgspec.MsgspecError, ValueError) as error:
        told = "is not the first line of a part: 'check --shard I/N --format jsonl' prints one."
        raise WorkspaceError(told, file=file, line=1) from error
    outcomes: list[Outcome] = []
    # what stands behind the last line end is half a line, or nothing
    for number, line in enumerate(rest.split(b"\n")[:-1], 2):
        if b'"outcomes"' in line and (end := _end(line)) is not None:
            return Part(file, head, setting, tuple(outcomes), end == _End(head.shard, len(outcomes)))
        if line.startswith(b'{"ended"'):
            return Part(file, head, setting, tuple(outcomes), whole=False)
        try:
            outcomes.append(from_json(line, Outcome))
        except msgspec.MsgspecError as error:
            hint = "A line was cut or changed on its way: copy the file again, or run this part again."
            raise WorkspaceError("is no outcome.", file=file, line=number, hint=hint) from error
    return Part(file, head, setting, tuple(outcomes), whole=False)


def _end(line: bytes) -> _End | None:
    try:
        return from_json(line, _End)
    except msgspec.MsgspecError:
        return None


def gathered(parts: Sequence[Part]) -> list[Outcome]:
    """The outcomes of all parts, in the order of tasks, models and checks.

    Raises:
        UsageError: They are no parts of one run, or not all of them.
    """
    first = parts[0]
    of = first.head.part.of
    by_number: dict[int, Part] = {}
    for part in parts:
        _of_the_same_run(part, first)
        if not part.whole:
            told = f"{part.file} ends early: part {part.head.shard} was broken off."
            raise UsageError(told, hint="Run it again: what it has found is stored where it ran.")
        other = by_number.setdefault(part.head.part.number, part)
        if other is not part:
            raise UsageError(f"{other.file} and {part.file} are both part {part.head.shard}.")
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in by_number]
    if missing:
        told = (
            f"part {missing[0]} is missing"
            if len(missing) == 1
            else f"parts {', '.join(missing)} are missing"
        )
        raise UsageError(
            f"{told}.", hint=f"Run 'judge-tui check … --shard {missing[0]}', and name its file as well."
        )
    found = [outcome for part in parts for outcome in part.outcomes]
    return sorted(found, key=lambda each: (each.task, each.model, each.check))


def _of_the_same_run(part: Part, first: Part) -> None:
    head, known = part.head, first.head
    if head.part.of != known.part.of:
        raise UsageError(f"{part.file} is part {head.shard}, and {first.file} part {known.shard}.")
    if head.seed != known.seed:
        raise UsageError(f"{part.file} has the seed {head.seed}, and {first.file} the seed {known.seed}.")
    if differs := known.engine.differs(head.engine):
        raise UsageError(f"{part.file} was judged with {differs}, as {first.file} was.")
    if head.selection != known.selection:
        raise UsageError(
            f"{part.file} is about other answers, or other checks, than {first.file}.",
            hint="All parts have to see the same workspace, and the same command but for --shard.",
        )


def events_of(parts: Sequence[Part], outcomes: Sequence[Outcome]) -> list[Event]:
    """What a run would have told that found all of it."""
    events: list[Event] = []
    first = next((part.setting for part in parts if part.setting.device), parts[0].setting)
    for task in dict.fromkeys(outcome.task for outcome in outcomes):
        found = [outcome for outcome in outcomes if outcome.task == task]
        planned = tuple(PlannedCheck(one.model, one.check, one.check, "") for one in found)
        events += [
            Planned(task, planned),
            Ready(first.backend, first.device, first.sandbox, parts[0].head.seed),
        ]
        events += [Finished(one) for one in found]
        events.append(Done(sum(one.seconds for one in found)))
    return events
