"""The attempts of a workspace: who has several at what, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from judge_tui.checks.attempts import attempt_of
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.passing import GENERIC_IDS, Whole, passed
from judge_tui.checks.store import Store, last_outcomes
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.attempt_figures import Attempt, Attempts
from judge_tui.judging.card import Scorecard
from judge_tui.judging.scoreboard import Board
from judge_tui.judging.workspace import Workspace

__all__ = [
    "Passes",
    "attempts_at",
    "attempts_on",
    "passes_as_seen",
    "passes_as_stored",
    "passes_unless_blind",
    "several",
]

#: Whether a submission passes; ``None`` where that is not known.
Passes = Callable[[Submission], bool | None]

_VERDICTS = {str(verdict): verdict for verdict in Verdict}


def several(workspace: Workspace, tasks: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Model, task → names of its answers, where one of them is a further attempt.

    Args:
        workspace: Where they are.
        tasks: Ids of the tasks that are looked at.

    Raises:
        WorkspaceError: The folder of the submissions cannot be read.
    """
    parts = map(workspace.parts, workspace.contestants())
    models = list(dict.fromkeys(model for model, attempt in parts if attempt > 1))
    found = {(model, task): workspace.attempts(model, task) for model in models for task in tasks}
    return {place: names for place, names in found.items() if any(name != place[0] for name in names)}


def attempts_on(
    workspace: Workspace, board: Board, passes: Passes, *, tasks: Collection[str] | None = None
) -> tuple[Attempts, ...]:
    """The attempts of models that have several, by model and task, with their points on a board.

    Args:
        workspace: Where they are.
        board: Whose points count.
        passes: Whether a submission passes.
        tasks: Those that are looked at, scored or not; by default those of which the board has a scorecard on
            one of the attempts.

    Raises:
        WorkspaceError: The folder of the submissions cannot be read.
    """
    found = several(workspace, board.tasks if tasks is None else tasks)
    cells = {(row.model, task): cell for row in board.all_rows for task, cell in row.cells.items()}
    here = not any(card.scored_elsewhere for card in board.cards)

    def made(task: str, names: Sequence[str]) -> Attempts:
        own = {name: cells[name, task] for name in names if (name, task) in cells}
        points = {name: cell.points for name, cell in own.items()}
        stale = {name for name, cell in own.items() if cell.stale}
        return attempts_at(workspace, task, names, points, passes, stale, here=here)

    return tuple(
        made(task, names)
        for (_model, task), names in found.items()
        if tasks is not None or any((name, task) in cells for name in names)
    )


def attempts_at(
    workspace: Workspace,
    task: str,
    names: Sequence[str],
    points: Mapping[str, float | None],
    passes: Passes,
    stale: Collection[str] = (),
    *,
    here: bool = True,
) -> Attempts:
    """What is known of some answers of one model to a task.

    Args:
        workspace: Where they are.
        task: Task id.
        names: Of the answers, as :func:`several` gives them.
        points: Name → points.
        passes: Whether a submission passes.
        stale: Names of those whose points were given to other files.
        here: Whether the points are on the files that are here, which alone tell which answers are the same.
    """
    every = (_attempt(workspace.submission(name, task), points, passes) for name in names)
    model = workspace.parts(names[0])[0]
    told = tuple(replace(one, stale=one.name in stale, digest=one.digest if here else "") for one in every)
    return Attempts(model, workspace.model_title(model), task, told)


def _attempt(submission: Submission, points: Mapping[str, float | None], passes: Passes) -> Attempt:
    name = submission.model
    try:
        if submission.files:
            return Attempt(name, points.get(name), passes(submission), submission.digest)
    except JudgeError:
        # what is off with a file is told where it is judged
        pass
    return Attempt(name, points.get(name))


def passes_as_stored(submission: Submission) -> bool | None:
    """Whether a submission passes by the outcomes that this machine has stored of it."""
    whole = Store().remembered(submission)
    return None if whole is None else passed(whole, last_outcomes(submission).values())


def passes_unless_blind(
    workspace: Workspace, sealed: Collection[tuple[str, str]], judged: Collection[tuple[str, str]]
) -> Passes:
    """As :func:`passes_as_stored`, but for what is judged blind: a verdict beside a name tells who is who.

    Args:
        workspace: Where it may be the rule.
        sealed: Model and task of scorecards whose names are not revealed yet.
        judged: Model and task of what has been scored.
    """

    def passes(submission: Submission) -> bool | None:
        place = submission.model, submission.task
        covered = place in sealed or (workspace.settings.blind and place not in judged)
        return None if covered else passes_as_stored(submission)

    return passes


def passes_as_seen(cards: Collection[Scorecard]) -> Passes:
    """Whether submissions pass by the verdicts that their judges have seen, the last of them.

    Attempts with the same files have the same verdicts. What a check measured is on no card, so that a
    required role that is told by that alone is not judged.

    Args:
        cards: Of any submissions and judges.
    """
    known = [card for card in sorted(cards, key=lambda card: card.day) if card.checks]
    seen = {(card.model, card.task): card for card in known}
    of_files = {(attempt_of(card.model)[0], card.task, card.submission): card for card in known}

    def passes(submission: Submission) -> bool | None:
        same = attempt_of(submission.model)[0], submission.task, submission.digest
        card = seen.get((submission.model, submission.task)) or of_files.get(same)
        whole = None if card is None else _whole(submission, card)
        return None if whole is None or card is None else passed(whole, _as_outcomes(card, whole))

    return passes


def _as_outcomes(card: Scorecard, whole: Whole) -> Iterable[Outcome]:
    return (
        Outcome(
            card.model, card.task, each.check, _VERDICTS[each.verdict], each.summary, 0.0,
            version=whole.checks.get(each.check, 0),
        )
        for each in card.checks
        if each.verdict in _VERDICTS
    )  # fmt: skip


def _whole(submission: Submission, card: Scorecard) -> Whole | None:
    """What a submission is judged by, the same on every machine; where no engine has run, NumPy is loaded.

    A challenge of the user's own is not run for it: it is what the card has seen.
    """
    if submission.judged_by is not None:
        seen = {each.check: 1 for each in card.checks}
        return Whole(seen, {submission.task: tuple(seen.keys() - GENERIC_IDS)})
    if (known := Store().remembered(submission)) is not None:
        return known
    from judge_tui.checks.judged import whole
    from judge_tui.checks.task import load_task

    try:
        return whole(load_task(submission.task))
    except JudgeError:
        return None
