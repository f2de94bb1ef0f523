"""Tasks: a contract, its checks, and how they are found.

A task is a folder under ``checks/tasks/`` or in any installed distribution that offers
it in the entry-point group ``judge_tui.tasks``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge_tui.checks.check import Check
from judge_tui.checks.contract import Contract
from judge_tui.checks.errors import EngineError, UsageError
from judge_tui.checks.installed import GROUP, Installed, installed, points, task_names

__all__ = ["GROUP", "Installed", "Task", "installed", "load_task", "task_names"]


@dataclass(frozen=True, slots=True)
class Task:
    """One challenge.

    Attributes:
        id: Folder name, as in ``submissions/<model>/<task>``.
        title: For people.
        contract: What was asked for.
        checks: Every check, the generic ones included, in the order in which they run.
        backends: Where they can run, the best first (:mod:`judge_tui.checks.backends`); ``auto`` takes the
            first that works.
        answers: What every submission has to have → ids of the checks that judge what it answers; where
            nothing is said, any check that is neither generic nor optional (:mod:`judge_tui.checks.judged`).
            ``check: word`` is a check that judges it where some evidence of it is about the word.
    """

    id: str
    title: str
    contract: Contract
    checks: tuple[Check, ...]
    backends: tuple[str, ...] = ("cpu",)
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def by_id(self) -> Mapping[str, Check]:
        """Check id → check."""
        return {check.id: check for check in self.checks}


def load_task(name: str) -> Task:
    """Import a task.

    Raises:
        UsageError: No such task is installed.
        EngineError: It cannot be imported.
    """
    point = points().get(name)
    if point is None:
        raise UsageError(
            f"no checks are installed for task '{name}'", hint=f"Known: {', '.join(task_names())}."
        )
    try:
        task = point.load()
    # A plug-in may do anything on import, leaving the program included.
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise EngineError(f"task '{name}' cannot be imported: {told}") from error
    if not isinstance(task, Task):
        raise EngineError(f"task '{name}' offers a {type(task).__name__} instead of a Task")
    if task.id != name:
        raise EngineError(f"task '{name}' calls itself '{task.id}'")
    return task
