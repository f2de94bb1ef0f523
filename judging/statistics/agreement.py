"""How far judges agree: Krippendorff's alpha with an interval, and mean absolute differences.

Alpha is 1 where judges give the same scores, and 0 where their scores on one submission are as far apart as
scores at large. Scores are taken as an interval scale: what counts is the square of a difference. A missing
score is left out; a submission with a single score says nothing.

Source: Krippendorff (2011), Computing Krippendorff's alpha-reliability, University of Pennsylvania.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.judging.statistics.estimate import Estimate
from judge_tui.judging.statistics.likelihood import Array
from judge_tui.judging.statistics.quantiles import student

__all__ = ["FEWEST_UNITS", "Agreement", "agreement", "alpha"]

#: With fewer submissions that several judges scored, an alpha says nothing: its interval would hardly cover.
FEWEST_UNITS = 10


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far judges agree on one dimension.

    Attributes:
        n: Submissions that at least two judges scored.
        judges: Judges whose scores are in it.
        alpha: Krippendorff's alpha; ``None`` where nothing can be said of it.
        apart: Mean absolute difference of two judges' scores of one submission, in points, each submission
            counting once; ``None`` where no two scored one.
        told: Why there is no alpha, one sentence; empty where there is one.
    """

    n: int
    judges: int
    alpha: Estimate | None = None
    apart: float | None = None
    told: str = ""


def alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for interval scales.

    Args:
        units: The scores of each submission, from different judges, in any order.

    Returns:
        At most 1; ``None`` where no submission has two scores, or all scores are the same.
    """
    rows = _sums(units)
    return None if not len(rows) or not _pooled(rows)[1] > 0 else 1 - float(np.divide(*_pooled(rows)))


def agreement(scores: Iterable[Mapping[str, float]], level: float = 0.95) -> Agreement:
    """Say how far judges agree on one dimension.

    The interval is a jackknife over submissions on the scale of log(1 − alpha), with Student's t: it stays
    below 1, and covers better than a bootstrap where there are few submissions.

    Args:
        scores: Per submission, judge → score.
        level: Probability with which the interval covers.

    Source: Miller (1974), The jackknife - a review, Biometrika 61, 1-15.
    """
    scored = [each for each in scores if len(each) > 1]
    # the order of the submissions must not show in the last digit
    units = sorted(sorted(each.values()) for each in scored)
    n, judges = len(units), len({judge for each in scored for judge in each})
    if not units:
        return Agreement(0, judges, told="No two judges have scored the same submission.")
    apart = float(np.mean([_apart(unit) for unit in units]))
    if n < FEWEST_UNITS:
        told = f"n = {n}: agreement on fewer than {FEWEST_UNITS} submissions says nothing."
        return Agreement(n, judges, None, apart, told)
    estimate = _jackknifed(_sums(units), level)
    if estimate is None:
        told = f"n = {n}: the scores, or the judges' differences, hardly vary, so that alpha says nothing."
        return Agreement(n, judges, None, apart, told)
    return Agreement(n, judges, estimate, apart)


def _apart(unit: Sequence[float]) -> float:
    values = np.asarray(unit, dtype=np.float64)
    m = len(values)
    return float(np.abs(values[:, None] - values[None, :]).sum() / (m * (m - 1)))


def _sums(units: Iterable[Sequence[float]]) -> Array:
    """(U, 4): scores, their sum, the sum of their squares, and their differences within the unit, squared."""
    rows = []
    for unit in units:
        m = len(unit)
        if m > 1:
            total, squares = math.fsum(unit), math.fsum(value * value for value in unit)
            mean = total / m
            rows.append([m, total, squares, 2 * m * math.fsum((v - mean) ** 2 for v in unit) / (m - 1)])
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _pooled(rows: Array) -> tuple[float, float]:
    """Disagreement within submissions, and among all scores: mean squares of differences of two."""
    n, total, squares, within = map(float, rows.sum(axis=0))
    return within / n, 2 * max(0.0, squares - total * total / n) / (n - 1)


def _jackknifed(rows: Array, level: float) -> Estimate | None:
    without = [_pooled(np.delete(rows, at, axis=0)) for at in range(len(rows))]
    whole = _pooled(rows)
    if not all(observed > 0 and expected > 0 for observed, expected in (whole, *without)):
        return None
    n = len(rows)
    centre = math.log(whole[0] / whole[1])
    left = np.log([observed / expected for observed, expected in without])
    error = math.sqrt((n - 1) / n * float(((left - left.mean()) ** 2).sum()))
    reach = student(level, n - 1) * error
    low, high = (1 - math.exp(centre + side * reach) for side in (1, -1))
    return Estimate(1 - math.exp(centre), max(-1.0, low), high, n)
