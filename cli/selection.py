"""Which submissions a ``check`` is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import JudgeError, UsageError
from judge_tui.checks.installed import task_names
from judge_tui.checks.submission import Submission
from judge_tui.checks.unlisted import escaped, is_text
from judge_tui.judging.strange_names import strange_names
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace

if TYPE_CHECKING:
    from judge_tui.checks.task import Task

__all__ = ["Selection", "select"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Submissions by task, in the order of running, and what was left out and why.

    Attributes:
        tasks: Task → submissions.
        warnings: What was left out, a sentence each.
        challenges: What tasks of the user's own are judged by.
    """

    tasks: Mapping[str, tuple[Submission, ...]]
    warnings: tuple[str, ...] = ()
    challenges: Mapping[str, Challenge] = field(default_factory=dict)

    def task(self, name: str) -> Task:
        """One of the tasks, with its checks.

        Raises:
            EngineError: It cannot be imported.
        """
        from judge_tui.checks.challenges.task import task_of

        return task_of(name, self.challenges.get(name))


def select(
    workspace: Workspace,
    models: Sequence[str],
    tasks: Sequence[str],
    *,
    attempts: bool = False,
) -> Selection:
    """The submissions that names on the command line mean.

    Models and tasks that are both named make a full matrix, so that a missing submission
    is told; where one side is left open, it stands for what is there. A name means one answer, the
    first where it says no other.

    Args:
        workspace: Where the submissions are.
        models: Names of models; empty for all, with all of their attempts.
        tasks: Names of tasks; empty for all.
        attempts: Take every attempt of the models that are named.

    Raises:
        UsageError: A name is unknown, or nothing is left to check.
        WorkspaceError: The challenge of a task that is named is malformed.
    """
    chosen = list(dict.fromkeys(workspace.task(name) for name in tasks))
    named = list(dict.fromkeys(workspace.model(name, *chosen) for name in models))
    found: dict[str, tuple[Submission, ...]] = {}
    challenges: dict[str, Challenge] = {}
    warnings = strange_names(workspace)
    odd: list[str] = []
    for task in chosen or workspace.tasks():
        wanted = _wanted(workspace, named, task, attempts=attempts)
        members = [m for m in wanted if (named and chosen) or task in workspace.submitted(m)]
        odd += [f"{m}/{task}" for m in members if not is_text(f"{m}{task}")]
        members = [m for m in members if is_text(f"{m}{task}")]
        if not members:
            continue
        try:
            challenge = workspace.challenge(task)
        except JudgeError as error:
            if chosen:
                raise
            warnings += (f"{error} {counted(len(members), 'submission')} of {task} left out.",)
            continue
        challenges |= {task: challenge} if challenge is not None else {}
        found[task] = tuple(workspace.submission(model, task) for model in members)
    warnings += tuple(
        f"{escaped(name)} is left out: no report could carry a name that is not UTF-8. Rename the folder."
        for name in odd
    )
    if not found:
        raise UsageError(
            "there is no submission to check.",
            hint=_hint(workspace, warnings),
        )
    return Selection(found, warnings, challenges)


def _wanted(workspace: Workspace, named: Sequence[str], task: str, *, attempts: bool) -> Sequence[str]:
    """Names of the answers to a task that are meant."""
    if not named:
        return workspace.contestants()
    if not attempts:
        return named
    models = dict.fromkeys(workspace.parts(name)[0] for name in named)
    return [name for model in models for name in workspace.attempts(model, task) or (model,)]


def _hint(workspace: Workspace, warnings: Sequence[str]) -> str:
    """Why there may be nothing: the tree may begin a folder too low, or have models inside of tasks."""
    where = workspace.submissions
    told = [
        f"Submissions are looked for as {where}/<model>/<task>/.",
        *(w[0].upper() + w[1:] for w in warnings),
    ]
    tasks = [task for task in task_names() if (where / task).is_dir()]
    if tasks:
        told.append(f"{tasks[0]}/ stands where the folder of a model should: name the folder above it?")
    return " ".join(told)
