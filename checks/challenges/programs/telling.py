"""What is told of cases: rows of a table; of one that is not right its input, its answer, the difference."""

from __future__ import annotations

from judge_tui.checks.challenges.programs.cases import Case
from judge_tui.checks.challenges.programs.comparing import Difference
from judge_tui.checks.challenges.programs.judges import Finding
from judge_tui.checks.sandbox.programs import Ran

__all__ = ["HEAD", "MOST_DETAILS", "details", "row"]

HEAD = ("case", "finding", "time", "memory")
#: Cases of which input, answer and difference are shown.
MOST_DETAILS = 5
#: Characters of a text that are shown, and how many lines stand before a difference.
_SHOWN, _BEFORE = 480, 2


def row(case: Case, ran: Ran, reason: str) -> tuple[str, ...]:
    """A case as a row below :data:`HEAD`.

    Args:
        case: The case.
        ran: How it was run.
        reason: Why it is not right; empty where it is.
    """
    seconds = f"{ran.own_seconds:.3f} s" if ran.own_seconds else "–"
    memory = f"{ran.peak_bytes / 2**20:.1f} MiB" if ran.peak_bytes else "–"
    return case.name, reason or "right", seconds, memory


def details(
    given: bytes, expected: bytes | None, got: bytes, finding: Finding
) -> tuple[tuple[str, ...], ...]:
    """The table of a case that is not right.

    Args:
        given: What the program read.
        expected: The answer; ``None`` where there is none.
        got: What it printed.
        finding: Why that is not right.
    """
    difference = finding.difference
    line = difference.line if difference else 1
    rows = [("", "text"), ("input", _excerpt(given, 1))]
    rows += [("expected", _excerpt(expected, line))] if expected is not None else []
    rows += [("got", _excerpt(got, line))]
    rows += [("first difference", difference.told(200))] if isinstance(difference, Difference) else []
    return tuple(rows)


def _excerpt(text: bytes, line: int) -> str:
    """A part of a text, from a few lines before one on where all of it is too much."""
    begin, skipped = 0, 0
    if len(text) > _SHOWN:
        while skipped < line - 1 - _BEFORE and (end := text.find(b"\n", begin)) >= 0:
            begin, skipped = end + 1, skipped + 1
    part = text[begin : begin + _SHOWN]
    said = part.decode("utf-8", "backslashreplace")
    left = len(text) - begin - len(part)
    before = f"… from line {skipped + 1} …\n" if skipped else ""
    return before + said + (f"\n… {left} bytes more …" if left else "")
