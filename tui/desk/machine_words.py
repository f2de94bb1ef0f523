"""What language models scored of the submissions that are compared: told to a judge who has scored it too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.submission import Submission
from judge_tui.judging.card import Scorecard
from judge_tui.judging.workspace import Workspace

__all__ = ["MachineWords"]


class MachineWords:
    """Scores and comments by language models on these files.

    Args:
        workspace: Where the scorecards are.
        submissions: What is compared.
        judge: Whose own card is none of them.
    """

    def __init__(self, workspace: Workspace, submissions: Sequence[Submission], judge: str) -> None:
        self._cards = [tuple(_cards(workspace, submission, judge)) for submission in submissions]

    def on(self, index: int, dimension: str, own: int | None) -> list[tuple[str, int, str]]:
        """Judge, score and comment of each that has scored a dimension; nothing before the judge has.

        Args:
            index: The submission.
            dimension: Id of the dimension.
            own: The judge's own score.
        """
        if own is None:
            return []
        return [
            (card.judge, score, card.comment(dimension))
            for card in self._cards[index]
            if (score := card.score(dimension)) is not None
        ]


def _cards(workspace: Workspace, submission: Submission, judge: str) -> list[Scorecard]:
    found: list[Scorecard] = []
    with suppress(JudgeError):
        for other in workspace.judges(submission.task, submission.model):
            with suppress(JudgeError):
                card, _ = workspace.scorecard(submission.task, submission.model, other)
                # what was said of other files says nothing of these
                if card.by_machine and other != judge and card.submission == submission.digest:
                    found.append(card)
    return found
