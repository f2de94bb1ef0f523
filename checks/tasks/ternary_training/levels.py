"""Projected weights held against s·{-1, 0, 1}: how far off they are, and by which rule levels were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.draws import Draw
from judge_tui.checks.tasks.ternary_training.grouping import Grouping, Scale, groupings, mean_scale
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tolerance import is_single

__all__ = ["LIMIT", "Answer", "Choice", "Rule", "choice", "distance", "settled", "single"]

Array = npt.NDArray[Any]

#: The distance that the challenge itself allows, and float32's rounding of it, where s is at most 1; relative
#: to s above.
LIMIT = 1e-5 + 2.0**-22
#: A threshold may be this far from s/2: an epsilon in s moves it, and so does rounding of W/s.
_NEAR = 1e-4
#: Scales from which on levels say by which rule they were chosen; below the limit itself moves a threshold.
_SHOWN = 1e-3


@dataclass(frozen=True, slots=True)
class Answer:
    """What a submission made of a draw: ``projected`` has the weights' shape."""

    draw: Draw
    projected: Array


@dataclass(frozen=True, slots=True)
class Choice:
    """How levels were chosen over all answers.

    Attributes:
        wrong: Weights whose level is not the nearest.
        count: All weights of groups that are not zero.
        below: Largest |W|/s that became 0.
        above: Smallest |W|/s that became ±s.
        flipped: Weights of another sign than their level.
        flipped_from: The least |W|/s among those; infinite where there are none.
        ties: Share of weights at s/2 that became 0; NaN where there were none.
    """

    wrong: int
    count: int
    below: float
    above: float
    flipped: int
    flipped_from: float
    ties: float

    @property
    def threshold(self) -> float:
        """|W|/s from which on a weight is not 0; NaN when no single one explains the levels."""
        if self.below > self.above + _NEAR:
            return float("nan")
        return (self.below + self.above) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """By which rule a submission was seen to project.

    Attributes:
        grouping: Which weights share a scale.
        zero_to: |W|/s up to which a weight becomes 0.
        level_from: |W|/s from which on it becomes ±s.
    """

    grouping: Grouping
    zero_to: float = 0.5
    level_from: float = 0.5

    @classmethod
    def seen(cls, answers: Sequence[Answer], transposed: bool) -> Rule:
        """The nearest level, unless the answers follow another threshold."""
        grouping = settled(answers, transposed)[0]
        chosen = choice(answers, grouping, transposed)
        if chosen.wrong == 0 or not np.isfinite(chosen.threshold):
            return cls(grouping)
        return cls(grouping, min(chosen.below, chosen.above), max(chosen.below, chosen.above))

    def projected(self, weight: Array, transposed: bool) -> Array:
        """The projection of latent weights (out, in) by this rule."""
        s = mean_scale(weight, self.grouping, transposed).values
        return np.asarray(np.sign(weight) * s * (np.abs(weight) > (self.zero_to + self.level_from) / 2 * s))

    def misplaced(self, weight: Array, projected: Array, transposed: bool) -> int:
        """How many projected weights, each at a level already, are at another one than the rule's."""
        s = mean_scale(weight, self.grouping, transposed).values
        live = s > 0
        t, level = weight[live] / s[live], np.round(projected[live] / s[live])
        size, slack = np.abs(t), _NEAR + LIMIT / s[live]
        low = (level == 0) & (size > self.level_from + slack)
        high = (level != 0) & (size < self.zero_to - slack)
        return int(np.sum(low | high | ((level * t < 0) & (size > slack))))


def distance(answer: Answer, scale: Scale) -> float:
    """Largest distance of a projected weight from its nearest level, over max(1, s); infinite for NaN."""
    s, projected = scale.values, answer.projected
    with np.errstate(all="ignore"):
        level = np.where(s > 0, np.clip(np.round(projected / np.where(s > 0, s, 1.0)), -1, 1), 0.0)
        off = np.abs(projected - level * s) / np.maximum(1.0, s)
    return float(np.max(np.where(np.isfinite(off), off, np.inf), initial=0.0))


def settled(answers: Sequence[Answer], transposed: bool) -> tuple[Grouping, list[float]]:
    """The grouping that explains the answers best, and how far each answer is off under it."""
    best: tuple[Grouping, list[float]] | None = None
    for grouping in groupings(transposed, GROUP):
        off = [distance(a, mean_scale(a.draw.weight, grouping, transposed)) for a in answers]
        if best is None or max(off) < max(best[1]):
            best = grouping, off
        if max(off) <= LIMIT:
            break
    assert best is not None
    return best


def single(answers: Sequence[Answer]) -> bool:
    """Whether every projected weight is a float32 number, although the weights were float64."""
    return all(is_single(answer.projected) for answer in answers)


def choice(answers: Sequence[Answer], grouping: Grouping, transposed: bool) -> Choice:
    """Which weights became 0 and which ±s."""
    below, above, wrong, count, flipped, zeroed, tied = 0.0, np.inf, 0, 0, 0, 0, 0
    flipped_from = np.inf
    for answer in answers:
        weight, s = answer.draw.weight, mean_scale(answer.draw.weight, grouping, transposed).values
        live = s > _SHOWN
        t, level = (
            part[live]
            for part in (weight / np.where(live, s, 1.0), answer.projected / np.where(live, s, 1.0))
        )
        level, size, slack = np.round(level), np.abs(t), _NEAR + LIMIT / s[live]
        zero = level == 0
        wrong += int(np.sum(zero & (size > 0.5 + slack)) + np.sum(~zero & (size < 0.5 - slack)))
        turned = ~zero & (np.sign(level) != np.sign(t)) & (size > slack)
        flipped += int(np.sum(turned))
        flipped_from = min(flipped_from, float(np.min(size[turned], initial=np.inf)))
        below, above = (
            max(below, float(np.max(size[zero], initial=0.0))),
            min(above, float(np.min(size[~zero], initial=np.inf))),
        )
        tie = np.abs(size - 0.5) < 1e-12
        zeroed, tied, count = (
            zeroed + int(np.sum(tie & zero)),
            tied + int(np.sum(tie)),
            count + int(live.sum()),
        )
    ties = zeroed / tied if tied else float("nan")
    return Choice(wrong, count, below, float(above), flipped, flipped_from, ties)
