"""The lines of code that evidence of checks points at, where it is over its limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.lines import split_lines
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Evidence, Outcome
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.openings import opening_at, over_lines
from judge_tui.judging.summaries.parts import Code

__all__ = ["place_of", "pointed_at"]

#: Lines that are shown around the one that is meant.
_AROUND = 3


def place_of(task: str, model: str, item: Evidence) -> str:
    """Anchor of the line that evidence points at; empty where it points at none, or nothing is wrong."""
    if item.ok is not False or not item.file or not item.line:
        return ""
    return anchor_of("code", task, model, item.file, str(item.line))


def pointed_at(submission: Submission, title: str, outcomes: Iterable[Outcome]) -> Iterator[Code]:
    """The lines that a submission's evidence points at, each once.

    Args:
        submission: Its files.
        title: Of the model.
        outcomes: What was found of it.
    """
    seen: set[str] = set()
    for item in (item for outcome in outcomes for item in outcome.evidence):
        anchor = place_of(submission.task, submission.model, item)
        if anchor and anchor not in seen and item.file and item.line:
            seen.add(anchor)
            lines = _lines(submission, item.file)
            if item.line <= len(lines):
                first, last = max(1, item.line - _AROUND), min(len(lines), item.line + _AROUND)
                shown = tuple(lines[first - 1 : last])
                opening = opening_at(over_lines(item.file, lines), first)
                yield Code(title, item.file, first, shown, frozenset({item.line}), anchor, opening)


def _lines(submission: Submission, name: str) -> list[str]:
    try:
        return split_lines(submission.read_text(name))
    except (JudgeError, OSError):
        return []
