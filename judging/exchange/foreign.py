"""What a record says that the workspace does not know: refused where it is a slip, else told.

Models and tasks that the workspace lacks are taken: their words wait for them. A dimension that the rubric
lacks is a slip, unless the scores were given by another rubric, and a name as ``glm5@x`` is no attempt.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from judge_tui.checks.attempts import SIGN, attempt_of
from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.challenges.found import challenge_ids
from judge_tui.judging.matchup import Matchups
from judge_tui.judging.rubric import Rubric, default_tasks
from judge_tui.judging.wording import counted, did_you_mean
from judge_tui.judging.workspace import Workspace

__all__ = ["foreign", "refuse_foreign"]

#: So many models are named in one sentence.
_NAMED = 6


def refuse_foreign(workspace: Workspace, said: Scorecard | Matchups) -> None:
    """Refuse a slip in what a record says.

    Args:
        workspace: Where it is to go.
        said: What the record says.

    Raises:
        WorkspaceError: A dimension is none of the rubric's, or a name has the sign of attempts and no number.
    """
    for name in _models(said):
        if SIGN in attempt_of(name)[0] and name not in workspace.contestants():
            model = name.partition(SIGN)[0]
            raise WorkspaceError(
                f"'{name}' is no attempt: {SIGN} is for their numbers, from 2 on.",
                hint=f'Write "model": "{model}" and its "attempt", as 2.',
            )
    rubric = _rubric(workspace, said.task)
    if rubric is None or not isinstance(said, Scorecard) or _by_another(said, rubric):
        return
    if beyond := _beyond(said, rubric):
        raise WorkspaceError(
            f"'{beyond[0]}' is no dimension of the rubric of {said.task}.",
            hint=did_you_mean(beyond[0], [dimension.id for dimension in rubric.dimensions]),
        )


def foreign(workspace: Workspace, told: Sequence[tuple[str, Scorecard | Matchups]]) -> Iterator[str]:
    """What is taken although the workspace does not know it, a sentence each.

    Args:
        workspace: Where it is to go.
        told: Place and word of the records that are taken.
    """
    first: dict[str, str] = {}
    records = Counter(said.task for _, said in told)
    for place, said in told:
        first.setdefault(said.task, place)
    lacking = [task for task in first if _rubric(workspace, task) is None]
    for task in lacking:
        near = difflib.get_close_matches(task, workspace.tasks(), 1, 0.6)
        meant = f" Is {near[0]} meant?" if near and near[0] != task else ""
        yield (
            f"{first[task]}: {task} is no task of this workspace: "
            f"{counted(records[task], 'record')} taken all the same.{meant}"
        )
    for place, said in told:
        rubric = _rubric(workspace, said.task)
        beyond = [] if rubric is None or not isinstance(said, Scorecard) else _beyond(said, rubric)
        if beyond:
            yield (
                f"{place}: scored by another rubric than that of {said.task}: "
                f"{', '.join(beyond)} taken, and in no figure."
            )
    missing: dict[str, str] = {}
    for place, said in told:
        for model in _models(said):
            if said.task not in lacking and not _is_there(workspace, model, said.task):
                missing.setdefault(f"{model} on {said.task}", place)
    if missing:
        named = ", ".join([*missing][:_NAMED]) + (
            f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        )
        yield f"{next(iter(missing.values()))}: no submission is here of {named}: taken all the same."


def _models(said: Scorecard | Matchups) -> tuple[str, ...]:
    if isinstance(said, Scorecard):
        return (said.model,)
    return tuple(dict.fromkeys(model for one in said.matchups for model in one.models))


def _rubric(workspace: Workspace, task: str) -> Rubric | None:
    """The rubric of a task; ``None`` where the task is none of the workspace's, or it cannot be read."""
    with suppress(JudgeError):
        own = (*default_tasks(), *challenge_ids(workspace.root))
        known = task in own or workspace.rubric_path(task).is_file()
        if known or any(_is_there(workspace, model, task) for model in workspace.contestants()):
            return workspace.rubric(task)
    return None


def _by_another(card: Scorecard, rubric: Rubric) -> bool:
    return card.rubric.digest not in ("", rubric.digest)


def _beyond(card: Scorecard, rubric: Rubric) -> list[str]:
    """Dimensions with a word that the rubric has not."""
    known = {dimension.id for dimension in rubric.dimensions}
    return [name for name in card.dimensions if name not in known]


def _is_there(workspace: Workspace, model: str, task: str) -> bool:
    with suppress(JudgeError):
        return bool(workspace.submission(model, task).files)
    return False
