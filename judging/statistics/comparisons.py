"""Comparisons of two models, as one judge saw them on one task, and how often who won against whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from judge_tui.judging.matchup import TIE, Matchup

__all__ = ["Comparison", "WinMatrix", "of_matchup", "of_points", "win_matrix"]


@dataclass(frozen=True, slots=True, order=True)
class Comparison:
    """One word on two models.

    Attributes:
        task: Task id.
        judge: The judge's name.
        models: The two, sorted.
        winner: One of them, or ``"tie"``.
        left: The one that sat left where the seats were drawn; empty where they were not, or are not known.
    """

    task: str
    judge: str
    models: tuple[str, str]
    winner: str
    left: str = ""

    @property
    def sheet(self) -> tuple[str, str]:
        """Task and judge: what comparisons of one sheet have in common is no news the second time."""
        return self.task, self.judge


@dataclass(frozen=True, slots=True)
class WinMatrix:
    """How often who won against whom.

    Attributes:
        models: In the order of rows and columns.
        wins: ``wins[i][j]``: how often i won against j.
        ties: ``ties[i][j]``: how often nobody did; symmetric.
    """

    models: tuple[str, ...]
    wins: tuple[tuple[int, ...], ...]
    ties: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """Comparisons in it."""
        return sum(map(sum, self.wins)) + sum(map(sum, self.ties)) // 2

    def of(self, model: str) -> tuple[int, int, int]:
        """Wins, ties and losses of a model."""
        at = self.models.index(model)
        return sum(self.wins[at]), sum(self.ties[at]), sum(row[at] for row in self.wins)


def of_matchup(
    task: str, judge: str, matchup: Matchup, seats: Mapping[str, int] | None = None
) -> list[Comparison]:
    """The comparisons that a matchup is: its winner beats each of the others, a tie is one of all pairs.

    Args:
        task: Task id.
        judge: The judge's name.
        matchup: One that names no winner, or another word such as ``"split"``, is no comparison.
        seats: Model → place from the left, from 0, of a blind draw.
    """
    if matchup.winner == TIE:
        return [
            _comparison(task, judge, pair, TIE, seats or {})
            for pair in combinations(sorted(matchup.models), 2)
        ]
    if matchup.winner not in matchup.models:
        return []
    others = (model for model in sorted(matchup.models) if model != matchup.winner)
    return [
        _comparison(task, judge, (matchup.winner, other), matchup.winner, seats or {}) for other in others
    ]


def of_points(task: str, judge: str, points: Mapping[str, float]) -> list[Comparison]:
    """The comparisons that a judge's points on one task are: of every two models, the higher one wins.

    Args:
        task: Task id.
        judge: The judge's name.
        points: Model → points; equal points are a tie.
    """
    made = []
    for one, other in combinations(sorted(points), 2):
        ahead = points[one] - points[other]
        winner = TIE if ahead == 0 else one if ahead > 0 else other
        made.append(Comparison(task, judge, (one, other), winner))
    return made


def _comparison(
    task: str, judge: str, pair: tuple[str, str], winner: str, seats: Mapping[str, int]
) -> Comparison:
    one, other = sorted(pair)
    known = one in seats and other in seats and seats[one] != seats[other]
    left = min((one, other), key=lambda model: seats[model]) if known else ""
    return Comparison(task, judge, (one, other), winner, left)


def win_matrix(comparisons: Iterable[Comparison], models: Iterable[str] = ()) -> WinMatrix:
    """Count who won against whom.

    Args:
        comparisons: In any order.
        models: The order of the rows; those that are compared, by name, where it is empty.
    """
    counted = list(comparisons)
    order = tuple(models) or tuple(sorted({model for each in counted for model in each.models}))
    at = {model: place for place, model in enumerate(order)}
    wins = [[0] * len(order) for _ in order]
    ties = [[0] * len(order) for _ in order]
    for each in counted:
        i, j = at[each.models[0]], at[each.models[1]]
        if each.winner == TIE:
            ties[i][j] += 1
            ties[j][i] += 1
        else:
            won, lost = (i, j) if each.winner == each.models[0] else (j, i)
            wins[won][lost] += 1
    return WinMatrix(order, tuple(map(tuple, wins)), tuple(map(tuple, ties)))
