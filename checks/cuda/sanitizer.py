"""NVIDIA's compute-sanitizer: where it is, how it is asked, and what its reports say of a submission.

It watches a program on a card and tells accesses out of bounds (memcheck), races on shared memory (racecheck)
and barriers that not all reach (synccheck). What it reports passes through the untrusted side.

Source: NVIDIA, Compute Sanitizer user manual, "Understanding … Errors" and "Compute Sanitizer Tool Examples".
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from judge_tui.checks.cuda.emulator import Event
from judge_tui.checks.cuda.toolchains import find_nvcc, wheels

__all__ = ["LOG", "TOOLS", "Sanitizer", "Tool", "find_sanitizer", "reported", "trouble"]

Tool = Literal["memcheck", "racecheck", "synccheck"]
TOOLS: tuple[Tool, ...] = ("memcheck", "racecheck", "synccheck")
#: The file that it writes its report to.
LOG = "sanitizer.log"

_PREFIX = "========="
_SUMMARY = re.compile(r"(ERROR|RACECHECK) SUMMARY: ")
_ACCESS = re.compile(r"Invalid __(\w+)__ (\w+) of size (\d+)")
_RACE = re.compile(r"(error|warning): Race reported between (\w+) access", re.IGNORECASE)
_BARRIER = re.compile(r"Barrier error detected\. ?(.*)")
_DEADLOCK = re.compile(r"Deadlock detected")
#: ``… in file.cu:41``, and in releases before 12.2 ``… in file.cu:41:kernel(int)``.
_IN = re.compile(r" in ([^\s:][^:]*):(\d+)(?=[:\s]|$)")
_THREAD = re.compile(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)")
_NEAR = "and is "
_MOST_ERRORS = 20


@dataclass(frozen=True, slots=True)
class Sanitizer:
    """The program.

    Attributes:
        path: The executable itself, no wrapper.
        root: The folder that holds it and what it loads into the watched program.
    """

    path: Path
    root: Path

    def argv(self, tool: Tool, program: str) -> list[str]:
        """The command that watches a program.

        Args:
            tool: What is looked for.
            program: Path of the program.
        """
        return [
            str(self.path), "--tool", tool, "--log-file", LOG, "--print-limit", str(_MOST_ERRORS),
            "--show-backtrace", "device", "--strip-paths", "no", program,
        ]  # fmt: skip


def find_sanitizer() -> Sanitizer | None:
    """The ``compute-sanitizer`` of nvcc's toolkit, of an installed wheel, or of the search path."""
    nvcc, found = find_nvcc(), shutil.which("compute-sanitizer")
    roots = [nvcc.root / "compute-sanitizer"] if nvcc else []
    roots += [Path(root, "cu13/compute-sanitizer") for root in wheels()]
    roots += _beside(Path(found).resolve()) if found else []
    # A folder without it starts nothing: the wheels before 13.1 lack it.
    whole = (root for root in roots if (root / "TreeLauncherSubreaper").is_file())
    return next(
        (Sanitizer(root / "compute-sanitizer", root) for root in whole if _runs(root / "compute-sanitizer")),
        None,
    )


def _beside(path: Path) -> list[Path]:
    """Where the program may lie that a script in ``bin`` starts."""
    return [path.parent, path.parent.parent / "compute-sanitizer"]


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def trouble(log: str) -> str:
    """Why a report is none; empty where the tool came to its end.

    Args:
        log: What it wrote.
    """
    told = [line.removeprefix(_PREFIX).strip() for line in log.splitlines()]
    if broken := next((line for line in told if line.startswith("Internal Sanitizer Error")), ""):
        return broken
    if _SUMMARY.search(log):
        return ""
    said = [line for line in told if line and line != "COMPUTE-SANITIZER"]
    return said[-1].removeprefix("Error: ") if said else "it wrote no report"


def reported(log: str, files: Collection[str]) -> list[Event]:
    """What a report says, one event for each error.

    Args:
        log: What the tool wrote.
        files: Names of the submission's files: only those are given as places.

    Returns:
        In the order of the report.
    """
    return [event for block in _blocks(log) if (event := _event(block, files))]


def _blocks(log: str) -> Iterator[list[str]]:
    """Errors as their lines: the first one says what, those set in say where."""
    block: list[str] = []
    for line in log.splitlines():
        if not line.startswith(_PREFIX):
            continue
        text = line.removeprefix(_PREFIX)
        if text.startswith("   "):
            block.append(text.strip())
            continue
        yield block
        block = [text.strip()]
    yield block


def _event(block: Sequence[str], files: Collection[str]) -> Event | None:
    if not block:
        return None
    head, further = block[0], block[1:]
    if access := _ACCESS.match(head):
        misaligned = any("is misaligned" in each for each in further)
        kind = "misaligned_access" if misaligned else "out_of_bounds"
        near = next((f", {each[len(_NEAR) :]}" for each in further if each.startswith(_NEAR)), "")
        text = f"{access[2]} of {access[3]} bytes of {access[1]} memory{_by(further)}{near}"
        return _at(Event(kind, "fault", text), block, files)
    if race := _RACE.match(head):
        return _race(race, block, files)
    if barrier := _BARRIER.match(head):
        text = f"{barrier[1].rstrip('.').lower()}{_by(further)}"
        return _at(Event("barrier_divergence", "fault", text), block, files)
    if _DEADLOCK.match(head):
        return _at(Event("deadlock", "fault", head), block, files)
    return None


def _race(race: re.Match[str], block: Sequence[str], files: Collection[str]) -> Event:
    """A race, with its other access where that lies in the submission; a warning rests on luck."""
    second = next((each for each in block if each.startswith("and ")), "and an")
    other, place = second.split()[1].lower(), next(_places([second], files), ("", 0))
    text = f"{race[2].lower()} and {other} of shared memory that nothing orders"
    event = Event("race", "fault" if race[1].lower() == "error" else "hazard", text)
    return replace(_at(event, block, files), other_file=place[0], other_line=place[1])


def _at(event: Event, block: Sequence[str], files: Collection[str]) -> Event:
    """An event with its place, and with thread and block where they are numbers of one axis."""
    file, line = next(_places(block, files), ("", 0))
    told = next((match for text in block if (match := _THREAD.search(text))), None)
    x, y, z, bx, by, bz = (int(part) for part in told.groups()) if told else (0,) * 6
    flat = not (y or z or by or bz)
    return replace(event, file=file, line=line, block=bx if flat else 0, thread=x if flat else 0)


def _by(further: Sequence[str]) -> str:
    """Who it was, as a clause."""
    told = next((text for text in further if _THREAD.search(text)), "")
    return f" {told}" if told else ""


def _places(block: Sequence[str], files: Collection[str]) -> Iterator[tuple[str, int]]:
    """Lines of the submission that are named, the innermost first."""
    for text in block:
        for match in _IN.finditer(text):
            path = f"/{match[1]}"
            named = [file for file in files if path.endswith(f"/{file}")]
            if named:
                yield max(named, key=len), int(match[2])
