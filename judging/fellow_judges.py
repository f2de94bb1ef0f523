"""What other people have said of a submission, beside what one judge has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.card import MACHINE, points
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.workspace import Workspace

__all__ = ["Fellow", "Word", "fellows", "words"]


class Word(Struct, frozen=True):
    """What a judge has said of one submission.

    Attributes:
        points: The points; ``None`` where there are none, or where they are sealed.
        judged: Whether the judge has come to a score or a letter.
    """

    points: int | None = None
    judged: bool = False


class Fellow(Struct, frozen=True):
    """How far a judge is, and how far from another.

    Attributes:
        name: The judge's name.
        judged: Submissions that the judge has judged.
        there: Submissions that there are.
        apart: Mean distance from the points of the one who looks; ``None`` where no two were given.
        above: Mean of how much higher the points are.
        both: Submissions that both gave points.
    """

    name: str
    judged: int = 0
    there: int = 0
    apart: float | None = None
    above: float = 0.0
    both: int = 0

    @property
    def left(self) -> int:
        """What is still to be judged."""
        return max(self.there - self.judged, 0)


def words(
    workspace: Workspace, task: str, model: str, judges: Iterable[str], rubric: Rubric | None
) -> dict[str, Word]:
    """What people have said of a submission; who cannot be read, and machines, are left out.

    Args:
        workspace: Where their cards are.
        task: Task id.
        model: Folder name of the model.
        judges: Whose cards are read.
        rubric: Of the task; without one nothing can be said of points.
    """
    found: dict[str, Word] = {}
    for judge in judges if rubric is not None else ():
        try:
            card, _ = workspace.scorecard(task, model, judge)
        except (JudgeError, OSError):
            # the command line tells what is wrong with it; it is another's
            continue
        if card.judge_kind == MACHINE:
            continue
        assert rubric is not None
        total = points(card, rubric)
        judged = total is not None or card.grade is not None
        found[judge] = Word(None if card.sealed else total, judged)
    return found


def fellows(
    judge: str, own: Mapping[tuple[str, str], Word], others: Mapping[tuple[str, str], Mapping[str, Word]]
) -> tuple[Fellow, ...]:
    """All who judge, the one who looks first.

    Args:
        judge: Who looks.
        own: Submission → what that judge has said; every submission that there is.
        others: Submission → judge → word; points that may not be seen are no points.
    """
    there = len(own)
    judged: dict[str, int] = {}
    apart: dict[str, list[int]] = {}
    for cell, said in others.items():
        mine = own[cell].points if cell in own else None
        for name, word in said.items():
            judged[name] = judged.get(name, 0) + (word.judged and cell in own)
            if mine is not None and word.points is not None:
                apart.setdefault(name, []).append(word.points - mine)
    first = Fellow(judge, sum(word.judged for word in own.values()), there)
    return first, *(_fellow(name, judged[name], there, apart.get(name, ())) for name in sorted(judged))


def _fellow(name: str, judged: int, there: int, apart: Iterable[int]) -> Fellow:
    by = tuple(apart)
    if not by:
        return Fellow(name, judged, there)
    return Fellow(name, judged, there, sum(map(abs, by)) / len(by), sum(by) / len(by), len(by))
