"""Which submissions a ``check`` is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge_tui.checks.errors import UsageError
from judge_tui.checks.submission import Submission
from judge_tui.checks.unlisted import escaped, is_text
from judge_tui.judging.strange_names import strange_names
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace

__all__ = ["Selection", "select"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Submissions by task, in the order of running, and what was left out and why."""

    tasks: Mapping[str, tuple[Submission, ...]]
    warnings: tuple[str, ...] = ()


def select(
    workspace: Workspace,
    models: Sequence[str],
    tasks: Sequence[str],
    *,
    checked: Sequence[str] | None = None,
    attempts: bool = False,
) -> Selection:
    """The submissions that names on the command line mean.

    Models and tasks that are both named make a full matrix, so that a missing submission
    is told; where one side is left open, it stands for what is there. A name means one answer, the
    first where it says no other.

    Args:
        workspace: Where the submissions are.
        models: Names of models; empty for all, with all of their attempts.
        tasks: Names of tasks; empty for all that have checks.
        attempts: Take every attempt of the models that are named.
        checked: Tasks that have checks; those installed by default.

    Raises:
        UsageError: A name is unknown, or nothing is left to check.
    """
    if checked is None:
        from judge_tui.checks.task import task_names

        checked = task_names()
    chosen = list(dict.fromkeys(workspace.task(name) for name in tasks))
    named = list(dict.fromkeys(workspace.model(name, *chosen) for name in models))
    for task in chosen:
        if task not in checked:
            raise UsageError(
                f"no checks are installed for the task {task}.", hint=f"There are: {', '.join(checked)}."
            )
    found: dict[str, tuple[Submission, ...]] = {}
    left_out: dict[str, int] = {}
    odd: list[str] = []
    for task in chosen or workspace.tasks():
        wanted = _wanted(workspace, named, task, attempts=attempts)
        members = [m for m in wanted if (named and chosen) or task in workspace.submitted(m)]
        odd += [f"{m}/{task}" for m in members if not is_text(f"{m}{task}")]
        members = [m for m in members if is_text(f"{m}{task}")]
        if members and task not in checked:
            left_out[task] = len(members)
        elif members:
            found[task] = tuple(workspace.submission(model, task) for model in members)
    warnings = tuple(
        f"no checks are installed for the task {task}: {counted(count, 'submission')} left out."
        for task, count in left_out.items()
    )
    warnings += strange_names(workspace)
    warnings += tuple(
        f"{escaped(name)} is left out: no report could carry a name that is not UTF-8. Rename the folder."
        for name in odd
    )
    if not found:
        raise UsageError(
            "there is no submission to check.",
            hint=_hint(workspace, warnings, checked),
        )
    return Selection(found, warnings)


def _wanted(workspace: Workspace, named: Sequence[str], task: str, *, attempts: bool) -> Sequence[str]:
    """Names of the answers to a task that are meant."""
    if not named:
        return workspace.contestants()
    if not attempts:
        return named
    models = dict.fromkeys(workspace.parts(name)[0] for name in named)
    return [name for model in models for name in workspace.attempts(model, task) or (model,)]


def _hint(workspace: Workspace, warnings: Sequence[str], checked: Sequence[str]) -> str:
    """Why there may be nothing: the tree may begin a folder too low, or have models inside of tasks."""
    where = workspace.submissions
    told = [
        f"Submissions are looked for as {where}/<model>/<task>/.",
        *(w[0].upper() + w[1:] for w in warnings),
    ]
    tasks = [task for task in checked if (where / task).is_dir()]
    if tasks:
        told.append(f"{tasks[0]}/ stands where the folder of a model should: name the folder above it?")
    return " ".join(told)
