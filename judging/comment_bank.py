"""What a judge once wrote of a dimension, to be offered again: the same words for the same fault."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.card import Scorecard
from judge_tui.judging.workspace import Workspace

__all__ = ["Earlier", "earlier_comments"]


class Earlier(Struct, frozen=True):
    """A comment of earlier.

    Attributes:
        text: What it says.
        task: Where it was written first among the cards that were changed last.
        model: Of whose submission.
        score: What was given beside it.
    """

    text: str
    task: str
    model: str
    score: int | None


def earlier_comments(
    workspace: Workspace, judge: str, dimension: str, *, but: tuple[str, str] = ("", "")
) -> list[Earlier]:
    """The judge's own comments on a dimension of that id in every task, those of the newest cards first.

    What cannot be read offers nothing. Each text is offered once.

    Args:
        workspace: Where the scorecards are.
        judge: Whose.
        dimension: Id of the dimension.
        but: Task and model of a card that is being written, of which nothing is offered.
    """
    cards = [card for task in workspace.tasks() for card in _own(workspace, task, judge)]
    cards.sort(key=lambda card: str(card.updated or card.created or ""), reverse=True)
    found: dict[str, Earlier] = {}
    for card in cards:
        text = card.comment(dimension).strip()
        if text and (card.task, card.model) != but:
            found.setdefault(text, Earlier(text, card.task, card.model, card.score(dimension)))
    return list(found.values())


def _own(workspace: Workspace, task: str, judge: str) -> list[Scorecard]:
    cards: list[Scorecard] = []
    for model in workspace.contestants():
        with suppress(JudgeError):
            if workspace.scorecard_path(task, model, judge).is_file():
                cards.append(workspace.scorecard(task, model, judge)[0])
    return cards
