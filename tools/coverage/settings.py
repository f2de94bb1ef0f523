"""What is simulated, and how often an interval holds the truth."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from statistics import fmean, median

import numpy as np

from judge_tui.judging.statistics.agreement import agreement
from judge_tui.judging.statistics.davidson import maximum_likelihood, ratings
from judge_tui.judging.statistics.estimate import Estimate
from judge_tui.judging.statistics.paired import paired_difference
from tools.coverage.draws import comparisons, judged, names, sheets

__all__ = ["EQUAL", "SETTINGS", "SPREAD", "Setting", "covered", "differences"]

SPREAD = (0.75, 0.25, -0.25, -0.75)
EQUAL = (0.0, 0.0, 0.0, 0.0)
_MEANS = (73.0, 71.0, 69.0, 67.0)
#: Sheets that the truth of rankings by points is taken from.
_MANY = 40_000
_SEED = 24

#: An interval, and what it should hold.
Held = tuple[Estimate, float]


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    Attributes:
        what: Which interval.
        how: How judgements are drawn.
        n: What the row counts.
        draw: Draws once, and gives intervals and truths.
        times: How often it is drawn.
    """

    what: str
    how: str
    n: str
    draw: Callable[[np.random.Generator], list[Held]]
    times: int = 2000


def differences(rng: np.random.Generator, strengths: Sequence[float], n: int) -> list[Held]:
    """The differences of models by independent comparisons, a fifth of them ties."""
    rated = ratings(comparisons(rng, strengths, n, 0.2))
    truth = dict(zip(names(len(strengths)), strengths, strict=True))
    return [(each, truth[one] - truth[other]) for (one, other), each in rated.differences.items()]


@cache
def _truth() -> dict[str, float]:
    return dict(maximum_likelihood(sheets(np.random.default_rng(_SEED), _MEANS, _MANY)).strengths)


def _by_points(rng: np.random.Generator, n: int) -> list[Held]:
    rated = ratings(sheets(rng, _MEANS, n))
    return [(each, _truth()[one] - _truth()[other]) for (one, other), each in rated.differences.items()]


def _paired(rng: np.random.Generator, tasks: int, judges: int) -> list[Held]:
    """Four points of difference, which vary from task to task and from judge to judge."""
    by_task = rng.normal(4, 6, tasks)
    points = {
        (f"task{task}", f"judge{judge}"): {"a": float(np.round(ahead + rng.normal(0, 6))), "b": 0.0}
        for task, ahead in enumerate(by_task)
        for judge in range(judges)
    }
    estimate = paired_difference(points, "a", "b").estimate
    return [] if estimate is None else [(estimate, 4.0)]


def _agreed(rng: np.random.Generator, alpha: float, judges: int, n: int) -> list[Held]:
    made = agreement(judged(rng, alpha, judges, n)).alpha
    return [] if made is None else [(made, alpha)]


_STRENGTH = "difference of strengths"
_TIED = "four models {}, 20 % ties"
_ON_SHEETS = "four models, all on each sheet, by points"
SETTINGS = (
    Setting(
        _STRENGTH, _TIED.format("1.5 apart"), "30 comparisons", partial(differences, strengths=SPREAD, n=30)
    ),
    Setting(
        _STRENGTH, _TIED.format("1.5 apart"), "100 comparisons", partial(differences, strengths=SPREAD, n=100)
    ),
    Setting(_STRENGTH, _TIED.format("alike"), "30 comparisons", partial(differences, strengths=EQUAL, n=30)),
    Setting(
        _STRENGTH, _TIED.format("alike"), "100 comparisons", partial(differences, strengths=EQUAL, n=100)
    ),
    Setting(_STRENGTH, _ON_SHEETS, "8 sheets", partial(_by_points, n=8), 1000),
    Setting(_STRENGTH, _ON_SHEETS, "30 sheets", partial(_by_points, n=30), 1000),
    *(
        Setting(
            "difference in points",
            f"{judges} judge{'s' * (judges != 1)} on each task",
            f"{tasks} tasks",
            partial(_paired, tasks=tasks, judges=judges),
        )
        for tasks, judges in ((6, 1), (8, 3), (20, 2))
    ),
    *(
        Setting(
            "alpha",
            f"{judges} judges, alpha {alpha}",
            f"{n} submissions",
            partial(_agreed, alpha=alpha, judges=judges, n=n),
        )
        for n in (10, 20, 50)
        for judges, alpha in ((2, 0.5), (3, 0.8))
    ),
)


def covered(setting: Setting, times: int | None = None) -> tuple[float, float]:
    """How often intervals hold the truth, and how wide they are in the middle.

    Args:
        setting: What is drawn.
        times: How often; as the setting has it by default. The n-th draw is the same whatever the others are.
    """
    counts = range(setting.times if times is None else times)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        drawn = pool.map(partial(_drawn, setting.draw), counts, chunksize=50)
        held = [pair for pairs in drawn for pair in pairs]
    return fmean(e.low <= truth <= e.high for e, truth in held), median(e.high - e.low for e, _ in held)


def _drawn(draw: Callable[[np.random.Generator], list[Held]], at: int) -> list[Held]:
    return draw(np.random.default_rng([_SEED, at]))
