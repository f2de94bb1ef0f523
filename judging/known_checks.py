"""The checks that a workspace's rubric names, held against those that its task has.

A verdict that no check gives leaves a cap without effect, and nobody would notice. Commands without a screen
import the task for this, where the shipped rubric does not name all of them already; a screen is told by its
engine what checks there are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging.document import Table, read_document
from judge_tui.judging.rubric import CLAUSE, default_rubric, default_tasks
from judge_tui.judging.wording import did_you_mean

__all__ = ["refuse_unknown_checks", "unknown_checks"]


def refuse_unknown_checks(rubric: Path, task: str, challenge: Challenge | None = None) -> None:
    """Refuse a rubric that names a check which its task has not.

    A task that is not installed, or cannot be imported, says nothing.

    Args:
        rubric: Where a workspace has its own rubric of the task, if it has one.
        task: The task's id.
        challenge: What it is judged by, where it is the user's own.

    Raises:
        WorkspaceError: With the line, and the name that was meant as far as it can be told.
    """
    if not rubric.is_file():
        return
    named = {check for check, _, _ in _named(read_document(rubric))}
    if named <= _shipped(task):
        return
    from judge_tui.checks.challenges.task import task_of

    try:
        known = tuple(task_of(task, challenge).by_id)
    except JudgeError:
        return
    for error in unknown_checks(rubric, task, known):
        raise error


def unknown_checks(rubric: Path, task: str, known: Collection[str]) -> tuple[WorkspaceError, ...]:
    """What is wrong with the checks that a workspace's rubric names; nothing where it has no own one.

    Args:
        rubric: Where it has its rubric, if it has one.
        task: The task's id.
        known: Ids of the task's checks.

    Raises:
        WorkspaceError: The rubric cannot be read.
    """
    named = _named(read_document(rubric)) if rubric.is_file() else ()
    return tuple(
        table.fault(f"the task {task} has no check '{check}'", key, hint=did_you_mean(check, known))
        for check, table, key in named
        if check not in known
    )


def _named(document: Table) -> Iterator[tuple[str, Table, str]]:
    """Checks that a rubric names, with the table and the key where."""
    for table in document.tables("dimension"):
        yield from ((check, table, "checks") for check in table.strings("checks"))
    for table in document.tables("cap"):
        yield from ((check, table, "if") for check in _conditions([table.string("if")]))


def _conditions(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for clause in re.split(r" (?:or|and) ", " ".join(text.split())):
            if found := CLAUSE.fullmatch(clause):
                yield found[1]


def _shipped(task: str) -> set[str]:
    """What the shipped rubric names: checks that there are, without importing the task."""
    if task not in default_tasks():
        return set()
    rubric = default_rubric(task)
    named = {check for dimension in rubric.dimensions for check in dimension.checks}
    return named | set(_conditions(cap.when for cap in rubric.caps))
