"""Tasks: a contract, its checks, and how they are found.

A task is a folder under ``checks/tasks/`` or in any installed distribution that offers
it in the entry-point group ``judge_tui.tasks``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata

from judge_tui.checks.check import Check
from judge_tui.checks.contract import Contract
from judge_tui.checks.errors import EngineError, UsageError

__all__ = ["GROUP", "Task", "load_task", "task_names"]

GROUP = "judge_tui.tasks"


@dataclass(frozen=True, slots=True)
class Task:
    """One challenge.

    Attributes:
        id: Folder name, as in ``submissions/<model>/<task>``.
        title: For people.
        contract: What was asked for.
        checks: Every check, the generic ones included, in the order in which they run.
    """

    id: str
    title: str
    contract: Contract
    checks: tuple[Check, ...]

    @property
    def by_id(self) -> Mapping[str, Check]:
        """Check id → check."""
        return {check.id: check for check in self.checks}


@functools.cache
def _entry_points() -> dict[str, metadata.EntryPoint]:
    return {point.name: point for point in metadata.entry_points(group=GROUP)}


def task_names() -> tuple[str, ...]:
    """Ids of the tasks that are installed, without importing them."""
    return tuple(sorted(_entry_points()))


def load_task(name: str) -> Task:
    """Import a task.

    Raises:
        UsageError: No such task is installed.
        EngineError: It cannot be imported.
    """
    point = _entry_points().get(name)
    if point is None:
        raise UsageError(
            f"no checks are installed for task '{name}'", hint=f"Known: {', '.join(task_names())}."
        )
    try:
        task = point.load()
    except Exception as error:
        raise EngineError(f"task '{name}' cannot be imported: {error}") from error
    if not isinstance(task, Task):
        raise EngineError(f"task '{name}' offers a {type(task).__name__} instead of a Task")
    return task
