"""What stays in its file and is on no board: scores of unknown dimensions, matchups that cannot be read."""

from __future__ import annotations

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.document import read_document
from judge_tui.judging.folders import documents_in
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.wording import did_you_mean
from judge_tui.judging.workspace import MATCHUPS, Workspace

__all__ = ["strays_of", "strays_on_the_board", "unread_matchups"]


def strays_of(workspace: Workspace, card: Scorecard, rubric: Rubric) -> tuple[str, ...]:
    """A sentence with file and line for each dimension of a card that the rubric has not.

    Args:
        workspace: Where the card is.
        card: The card, as it is on disk.
        rubric: The rubric of its task.

    Raises:
        WorkspaceError: The file cannot be read any more.
    """
    known = [dimension.id for dimension in rubric.dimensions]
    strays = [name for name in card.dimensions if name not in known]
    if not strays:
        return ()
    table = read_document(workspace.scorecard_path(card.task, card.model, card.judge)).table("dimensions")
    told = f"the rubric of {card.task} has no dimension '{{}}', so that a score there is in no mean"
    return tuple(str(table.fault(told.format(name), name, hint=did_you_mean(name, known))) for name in strays)


def strays_on_the_board(workspace: Workspace) -> tuple[str, ...]:
    """The same for all cards that a board counts.

    Args:
        workspace: Where the cards are.

    Raises:
        JudgeError: A scorecard or rubric is malformed.
    """
    told: list[str] = []
    for task in workspace.tasks():
        if cards := [card for card in workspace.scorecards(task) if card.dimensions and not card.sealed]:
            rubric = workspace.rubric(task)
            told += (stray for card in cards for stray in strays_of(workspace, card, rubric))
    return tuple(told)


def unread_matchups(workspace: Workspace) -> tuple[str, ...]:
    """A sentence with file and line for each file of matchups that cannot be read, and is on no board."""
    told: list[str] = []
    for task in workspace.tasks():
        for path in documents_in(workspace.root / "scores" / task / MATCHUPS):
            try:
                workspace.matchups(task, path.stem)
            except JudgeError as error:
                told.append(str(error))
    return tuple(told)
