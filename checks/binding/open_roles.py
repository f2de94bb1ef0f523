"""Why a role is open: what was seen, what cannot be read, and what the submission did about it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.contract import Role, normal
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.missing import lacking
from judge_tui.checks.sources import fence_line, fenced, python_files
from judge_tui.checks.submission import Submission

__all__ = ["cause", "seen", "unreadable"]

_MOST_SEEN = 8
#: More callables than these are told in their own order.
_MOST_RANKED = 500


def seen(loaded: Inventories, roles: Sequence[Role], sought: str = "") -> list[str]:
    """The callables that are there, none of which looks like a role, those nearest to one first.

    Args:
        loaded: File → inventory.
        roles: What was looked for.
        sought: The same, as a clause, where that is told.
    """
    there = list(callables(loaded))
    if len(there) <= _MOST_RANKED:
        spelt = [{normal(name) for p in role.params for name in (p.name, *p.aliases)} for role in roles]
        there.sort(key=lambda c: -max((_meant(c, names) for names in spelt), default=0))
    seen = [f"{c.file}:{c.name}({', '.join(p['name'] for p in c.params)})" for c in there]
    more = f" and {len(seen) - _MOST_SEEN} more" if len(seen) > _MOST_SEEN else ""
    told = [f"saw {', '.join(seen[:_MOST_SEEN])}{more}, of other names or parameters"] if seen else []
    return [sought, *(told or ["saw no function or class"])] if sought else told


def _meant(routine: Routine, names: Collection[str]) -> int:
    """How many parameters of a callable go by names that a role has for its own."""
    return sum(normal(str(param["name"])) in names for param in routine.params)


def unreadable(submission: Submission, broken: Mapping[str, Fault]) -> list[str]:
    """What stands in the way of reading the files, as notes."""
    notes = [
        f"{file} is Markdown with a code fence (line {line}), not Python"
        if _kind(fault) == "SyntaxError" and (line := fence_line(submission.read_text(file)))
        else f"{file} {fault.message}"
        for file, fault in broken.items()
    ]
    if not python_files(submission) and (found := fenced(submission)):
        notes.append(f"its code stands in a Markdown fence ({found[0]}:{found[1]}), not in a Python file")
    return notes


def cause(
    submission: Submission,
    loaded: Inventories,
    broken: Mapping[str, Fault],
    fatal: Mapping[str, Fault],
    notes: Sequence[str],
    packages: Collection[str] = (),
) -> Fault | None:
    """What the submission did that leaves a role open; ``None`` when it may only be spelled unusually.

    Args:
        submission: Whose role it is.
        loaded: File → inventory.
        broken: File → why it could not be imported.
        fatal: What calling did.
        notes: What was tried.
        packages: What the jail shows beside NumPy, where that is installed.
    """
    absences = re.findall(r"raised ModuleNotFoundError: (No module named '\w+)", "\n".join(notes))
    if absent := lacking(submission, "\n".join(absences), packages):
        return absent
    for fault in fatal.values():
        return fault
    for file, fault in broken.items():
        if not loaded and not (_kind(fault) == "SyntaxError" and fence_line(submission.read_text(file))):
            return fault
    return None


def _kind(fault: Fault) -> str:
    return fault.kind if isinstance(fault, Raised) else ""
