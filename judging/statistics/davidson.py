"""Strengths of models from wins, losses and ties, each with an interval: Bradley-Terry with Davidson's ties.

A difference of strengths is the logarithm of how many wins there are for a loss: 0.7 is two for one. They
sum to 0. :func:`maximum_likelihood` is the plain fit, which has no finite answer where somebody has won all
there was to win; :func:`ratings` is penalised, always finite, and has the intervals.

An interval holds the values under which the penalised profile likelihood falls by no more than half the
quantile of χ² with one degree of freedom. Where sheets (a judge on a task) hold several comparisons, these
hang together, and the fall is scaled by how much more the strengths vary from sheet to sheet than
independent comparisons would: never below 1, so that intervals only become wider by it.

Source: Davidson (1970), JASA 65, 317-328; Heinze and Schemper (2002), A solution to the problem of separation
in logistic regression, Statistics in Medicine 21, 2409-2419; Varin, Reid and Firth (2011), An overview of
composite likelihood methods, Statistica Sinica 21, 5-42, section 2.3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from judge_tui.judging.matchup import TIE
from judge_tui.judging.statistics.comparisons import Comparison
from judge_tui.judging.statistics.connected import groups, has_maximum
from judge_tui.judging.statistics.estimate import Estimate
from judge_tui.judging.statistics.likelihood import Array, Design, Point, contributions, evaluated, maximised
from judge_tui.judging.statistics.quantiles import normal, student

__all__ = ["FEWEST_COMPARISONS", "Fit", "Ratings", "maximum_likelihood", "ratings"]

#: Fewer comparisons say nothing.
FEWEST_COMPARISONS = 10
#: So many sheets more than parameters there must be where sheets hold several comparisons.
_MORE_SHEETS = 3
#: How long a last step to an end may be, in half intervals: what is left then is about its square.
_NEAR = 1e-4
#: How near to the top of the profile is near enough for that.
_NEAR_TOP = 1e-11
_MOST_STEPS = 60


@dataclass(frozen=True, slots=True)
class Fit:
    """The plain maximum-likelihood fit.

    Attributes:
        strengths: Model → strength, in logarithms of odds, summing to 0; empty where there is no fit.
        tie: Davidson's ν: ties for each win of one of two equals; 0 where nobody tied.
        n: Comparisons.
        told: Why there is no fit, one sentence; empty where there is one.
    """

    strengths: Mapping[str, float] = field(hash=False)
    tie: float
    n: int
    told: str = ""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Strengths and their differences.

    Attributes:
        strengths: Model → strength, the strongest first; ``n`` counts the model's own comparisons.
        differences: Two models, by name → strength of the first less that of the second; ``n`` counts the
            comparisons of these two, which may be 0: they are then compared through others.
        tie: Davidson's ν.
        n: Comparisons.
        sheets: Judges' sheets that they stand on: pairs of task and judge.
        level: Probability with which an interval covers.
        separated: Whether the plain likelihood has no finite maximum, so that the penalty sets how far apart
            the outermost are.
        told: Why there are no figures, one sentence; empty where there are some.
    """

    strengths: Mapping[str, Estimate] = field(hash=False)
    differences: Mapping[tuple[str, str], Estimate] = field(hash=False)
    tie: float
    n: int
    sheets: int
    level: float
    separated: bool = False
    told: str = ""

    def difference(self, one: str, other: str) -> Estimate:
        """Strength of one model less that of another.

        Raises:
            KeyError: One of them is not rated.
        """
        return self.differences[one, other] if one < other else -self.differences[other, one]

    @property
    def apart(self) -> frozenset[tuple[str, str]]:
        """The pairs, by name, whose difference is told from 0."""
        return frozenset(pair for pair, estimate in self.differences.items() if estimate.excludes_zero)


def maximum_likelihood(comparisons: Iterable[Comparison]) -> Fit:
    """Fit strengths by plain maximum likelihood.

    Without ties this is the Bradley-Terry model.

    Args:
        comparisons: In any order, of any number of models.
    """
    seen = sorted(comparisons)
    models = sorted({model for each in seen for model in each.models})
    told = _unrankable(models, seen)
    if not told and not has_maximum(models, seen):
        told = "The likeliest strengths are infinite: some only won, or ties say too little of who is ahead."
    if told:
        return Fit({}, 0.0, len(seen), told)
    tied = any(each.winner == TIE for each in seen)
    frame = _basis(len(models))
    design = _design(models, seen, frame, ties=tied)
    at = maximised(design, np.zeros(design.rows.shape[-1]), penalised=False)
    strengths = frame @ at.theta[: frame.shape[1]]
    return Fit(_named(models, strengths), math.exp(at.theta[-1]) if tied else 0.0, len(seen))


def ratings(comparisons: Iterable[Comparison], level: float = 0.95) -> Ratings:
    """Rate models, with intervals of their strengths and of every difference.

    Nothing is said on fewer than :data:`FEWEST_COMPARISONS` comparisons; on models in groups that were never
    compared; and, where sheets hold several comparisons, on fewer sheets than there are models and 3 more.

    Args:
        comparisons: In any order, of any number of models.
        level: Probability with which an interval covers.
    """
    seen = sorted(comparisons)
    models = sorted({model for each in seen for model in each.models})
    sheets = len({each.sheet for each in seen})
    told = _unrankable(models, seen) or _too_few(len(seen), sheets, len(models))
    if told:
        return Ratings({}, {}, 0.0, len(seen), sheets, level, told=told)
    whole = _Profiles(models, seen, level)
    own = Counter(model for each in seen for model in each.models)
    pairs = Counter(each.models for each in seen)
    size = len(models)
    average = np.full(size, 1 / size)
    strengths = {
        model: whole.interval(np.eye(size)[at] - average, own[model]) for at, model in enumerate(models)
    }
    differences = {
        (models[i], models[j]): whole.interval(np.eye(size)[i] - np.eye(size)[j], pairs[models[i], models[j]])
        for i, j in combinations(range(size), 2)
    }
    ordered = dict(sorted(strengths.items(), key=lambda item: (-item[1].value, item[0])))
    separated = not has_maximum(models, seen)
    return Ratings(ordered, differences, whole.tie, len(seen), sheets, level, separated)


def _unrankable(models: Sequence[str], seen: Sequence[Comparison]) -> str:
    if not seen:
        return "Nobody has compared these models yet."
    apart = groups(models, seen)
    if len(apart) > 1:
        named = "; ".join(", ".join(group) for group in apart)
        return f"These groups cannot be ranked, since nobody has compared across them: {named}."
    return ""


def _too_few(n: int, sheets: int, models: int) -> str:
    if n < FEWEST_COMPARISONS:
        return f"n = {n}: fewer than {FEWEST_COMPARISONS} comparisons say nothing of strengths."
    least = models + _MORE_SHEETS
    if sheets < min(n, least):
        counted = f"n = {n} comparisons, but of {sheets} task{'s' * (sheets != 1)} as judges saw them"
        return f"{counted}: fewer than {least} say nothing of the strengths of {models} models."
    return ""


class _Profiles:
    """The penalised fit, and intervals of what strengths are combined to."""

    def __init__(self, models: Sequence[str], seen: Sequence[Comparison], level: float) -> None:
        self._models, self._seen, self._level = models, seen, level
        frame = _basis(len(models))
        design = _design(models, seen, frame)
        self._top = maximised(design, np.zeros(design.rows.shape[-1]), penalised=True)
        self._strengths = frame @ self._top.theta[:-1]
        self.tie = math.exp(self._top.theta[-1])
        self._covariance = np.linalg.inv(self._top.information)
        self._frame = frame
        self._sheets = _sheet_scores(models, seen, design, self._top.theta)

    def interval(self, contrast: Array, n: int) -> Estimate:
        """What a contrast of strengths comes to.

        Args:
            contrast: (M,), weights that sum to 0.
            n: Comparisons that the estimate shall say it rests on.
        """
        value = float(contrast @ self._strengths)
        along = np.append(contrast @ self._frame, 0.0)
        variance = float(along @ self._covariance @ along)
        fall = self._fall(along, variance)
        frame = np.column_stack([contrast / (contrast @ contrast), _basis(len(contrast), contrast)])
        design = _design(self._models, self._seen, frame)
        rest = frame[:, 1:].T @ self._strengths
        top = evaluated(design, np.concatenate([[value], rest, self._top.theta[-1:]]), penalised=True)
        reach = math.sqrt(variance) * fall
        low, high = (_end(design, top, side * reach, fall) for side in (-1, 1))
        return Estimate(value, low, high, n)

    def _fall(self, along: Array, variance: float) -> float:
        """How far the signed root of the likelihood ratio falls at the ends of an interval."""
        if self._sheets is None:
            return normal(self._level)
        g, parameters = self._sheets.shape
        moved = self._sheets @ (self._covariance @ along)
        ratio = float(moved @ moved) / variance * g / (g - parameters)
        return student(self._level, g - 1) * math.sqrt(max(1.0, ratio))


def _end(design: Design, top: Point, reach: float, fall: float) -> float:
    """One end of a profile-likelihood interval: Newton's steps on the signed root, which is nearly a line.

    Args:
        design: What was seen; its first parameter is the one that is profiled.
        top: The fit.
        reach: Where the end is on a parabola, from the fit on; its sign says which end.
        fall: Of the signed root, from the fit to the end.
    """
    side = math.copysign(1.0, reach)
    near = _NEAR * abs(reach)
    at = top
    offset, inside, outside = abs(reach), 0.0, math.inf
    for _ in range(_MOST_STEPS):
        at = _along(design, at, float(top.theta[0]) + side * offset)
        root = math.sqrt(max(2 * (top.value - at.value), 0.0))
        inside, outside = (offset, outside) if root < fall else (inside, offset)
        slope = -side * float(at.gradient[0]) / root if root else 0.0
        step = (fall - root) / slope if slope > 0 else math.inf
        following = offset + step
        if abs(step) < near:
            return float(top.theta[0] + side * following)
        if not inside < following < outside:
            following = 2 * offset if outside == math.inf else (inside + outside) / 2
        offset = min(following, 4 * offset)
    return float(top.theta[0] + side * offset)


def _along(design: Design, at: Point, value: float) -> Point:
    """The profile at another value of its parameter, looked for from where the rest is likely to be then."""
    theta = at.theta.copy()
    theta[0] = value
    pull = at.information[1:, 0] * (at.theta[0] - value)
    theta[1:] += np.linalg.solve(at.information[1:, 1:], pull)
    return maximised(design, theta, penalised=True, fixed=1, reached=_NEAR_TOP)


def _basis(size: int, across: Array | None = None) -> Array:
    """An orthonormal basis of the vectors that sum to 0, and are orthogonal to one more where it is given."""
    fixed = [np.ones(size)] if across is None else [np.ones(size), across]
    full, _ = np.linalg.qr(np.column_stack([*fixed, np.eye(size)]))
    return np.asarray(full[:, len(fixed) :], dtype=np.float64)


def _outcome(each: Comparison) -> int:
    return 2 if each.winner == TIE else int(each.winner != each.models[0])


def _design(models: Sequence[str], seen: Sequence[Comparison], frame: Array, *, ties: bool = True) -> Design:
    """The design of comparisons whose strengths are ``frame @ theta``, τ being the last parameter."""
    at = {model: place for place, model in enumerate(models)}
    counted: dict[tuple[str, str], list[int]] = {}
    for each in seen:
        counted.setdefault(each.models, [0, 0, 0])[_outcome(each)] += 1
    halves = np.array([(frame[at[one]] - frame[at[other]]) / 2 for one, other in counted])
    if not ties:
        rows = np.stack([halves, -halves], axis=1)
        return Design(rows, np.array([row[:2] for row in counted.values()], dtype=np.float64))
    rows = np.zeros((len(counted), 3, frame.shape[1] + 1))
    rows[:, 0, :-1], rows[:, 1, :-1], rows[:, 2, -1] = halves, -halves, 1.0
    return Design(rows, np.array(list(counted.values()), dtype=np.float64))


def _sheet_scores(
    models: Sequence[str], seen: Sequence[Comparison], design: Design, theta: Array
) -> Array | None:
    """(G, P), what each sheet adds to the score; ``None`` where each holds one comparison."""
    sheets = {sheet: place for place, sheet in enumerate(dict.fromkeys(each.sheet for each in seen))}
    if len(sheets) == len(seen):
        return None
    added = contributions(design, theta)
    pairs = {pair: place for place, pair in enumerate(dict.fromkeys(each.models for each in seen))}
    total = np.zeros((len(sheets), added.shape[-1]))
    for each in seen:
        total[sheets[each.sheet]] += added[pairs[each.models], _outcome(each)]
    return total


def _named(models: Sequence[str], strengths: Array) -> dict[str, float]:
    order = sorted(zip(models, map(float, strengths), strict=True), key=lambda item: (-item[1], item[0]))
    return dict(order)
