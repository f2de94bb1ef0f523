"""Judgements drawn at random from models whose strengths are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from judge_tui.judging.statistics.comparisons import Comparison, of_points

__all__ = ["comparisons", "judged", "names", "sheets", "tie_parameter"]


def names(count: int) -> tuple[str, ...]:
    """Names of models."""
    return tuple(f"m{at}" for at in range(count))


def tie_parameter(strengths: Sequence[float], ties: float) -> float:
    """Davidson's ν under which, over all pairs alike, this share of the comparisons are ties.

    Args:
        strengths: Of the models.
        ties: Share, below 1.
    """
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        shares = [
            middle / (2 * math.cosh((one - other) / 2) + middle) for one, other in combinations(strengths, 2)
        ]
        low, high = (middle, high) if sum(shares) < ties * len(shares) else (low, middle)
    return low


def comparisons(
    rng: np.random.Generator, strengths: Sequence[float], n: int, ties: float
) -> list[Comparison]:
    """Independent comparisons, each of another judge, of every pair in turn.

    Args:
        rng: Where they are drawn from.
        strengths: Of the models, in logarithms of odds.
        n: How many.
        ties: Share of ties.
    """
    tie = tie_parameter(strengths, ties)
    pairs = list(combinations(range(len(strengths)), 2))
    models = names(len(strengths))
    drawn = []
    for at in range(n):
        i, j = pairs[at % len(pairs)]
        half = (strengths[i] - strengths[j]) / 2
        odds = np.array([math.exp(half), math.exp(-half), tie])
        winner = (models[i], models[j], "tie")[rng.choice(3, p=odds / odds.sum())]
        drawn.append(Comparison("kv", f"judge{at}", (models[i], models[j]), winner))
    return drawn


def sheets(rng: np.random.Generator, means: Sequence[float], n: int) -> list[Comparison]:
    """Comparisons by points: each sheet scores all models, with errors of 10 points, to the next 5 points.

    Args:
        rng: Where they are drawn from.
        means: Points of the models.
        n: Sheets, each of another judge.
    """
    points = np.round(rng.normal(means, 10.0, (n, len(means))) / 5) * 5
    models = names(len(means))
    return [
        each
        for at, row in enumerate(points)
        for each in of_points("kv", f"judge{at}", dict(zip(models, map(float, row), strict=True)))
    ]


def judged(rng: np.random.Generator, alpha: float, judges: int, n: int) -> list[dict[str, float]]:
    """Scores of submissions by judges whose agreement is known, in whole points.

    Args:
        rng: Where they are drawn from.
        alpha: Share of the variance of a score that is the submission's.
        judges: How many.
        n: Submissions.
    """
    common = math.sqrt(alpha) * rng.normal(size=(n, 1))
    scores = np.round(70 + 10 * (common + math.sqrt(1 - alpha) * rng.normal(size=(n, judges))))
    return [{f"judge{at}": float(score) for at, score in enumerate(row)} for row in scores]
