"""The difference of two models, or of two judges, in points on what both have points on."""

from __future__ import annotations

import math
from collections.abc import Mapping

from judge_tui.judging.statistics.estimate import Effect
from judge_tui.judging.statistics.sign_flips import SHEETS, blocked

__all__ = ["Points", "judges_apart", "paired_difference"]

#: Task, judge → model → points.
Points = Mapping[tuple[str, str], Mapping[str, float]]


def paired_difference(points: Points, one: str, other: str, level: float = 0.95) -> Effect:
    """Mean difference of two models over the sheets that have points of both.

    Args:
        points: What judges gave.
        one: A model.
        other: Another one; swapped, the figures change their signs.
        level: Probability with which the interval covers.

    Returns:
        The difference in points; ``n`` counts sheets.
    """
    shared = {
        sheet: (given[one] - given[other], 1.0)
        for sheet, given in points.items()
        if one in given and other in given
    }
    return blocked(shared, SHEETS, len(shared), level)


def judges_apart(points: Points, one: str, other: str, level: float = 0.95) -> tuple[Effect, float | None]:
    """How two judges' points on the same submissions differ.

    Args:
        points: What judges gave.
        one: A judge.
        other: Another one; swapped, the figures of the difference change their signs.
        level: Probability with which the interval covers.

    Returns:
        The mean difference in points, ``n`` counting submissions; and the mean absolute difference, ``None``
        where they share no submission.
    """
    shared = {
        (task, model): (value - points[task, other][model], 1.0)
        for (task, judge), given in points.items()
        if judge == one and (task, other) in points
        for model, value in given.items()
        if model in points[task, other]
    }
    effect = blocked(shared, "submissions", len(shared), level)
    total = math.fsum(abs(ahead) for ahead, _ in shared.values())
    return effect, total / len(shared) if shared else None
