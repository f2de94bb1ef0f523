"""What should not matter, and whether it does: where a submission sat, and how long it is."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from judge_tui.judging.matchup import TIE
from judge_tui.judging.statistics.comparisons import Comparison
from judge_tui.judging.statistics.estimate import Effect, Estimate
from judge_tui.judging.statistics.quantiles import normal
from judge_tui.judging.statistics.sign_flips import FEWEST_BLOCKS, SHEETS, blocked, flipped

__all__ = ["Sized", "length_effect", "seat_effect_on_points", "seat_effect_on_wins"]


@dataclass(frozen=True, slots=True)
class Sized:
    """A submission as a judge scored it.

    Attributes:
        task: Task id.
        judge: The judge's name.
        model: Folder name.
        lines: Lines that are not blank.
        points: Points, 0…100.
    """

    task: str
    judge: str
    model: str
    lines: int
    points: float


def seat_effect_on_wins(comparisons: Iterable[Comparison], level: float = 0.95) -> Effect:
    """Share of the blind draws in which the left side won more, of those in which one side did.

    Draws count, and not comparisons, which hang together where three sat beside each other.

    Args:
        comparisons: Those without known seats do not count.
        level: Probability with which the interval covers.

    Returns:
        The share, which is 0.5 without an effect, with Wilson's interval and the p-value of an exact binomial
        test; ``n`` counts draws with a winning side.

    Source: Wilson (1927), JASA 22, 209-212.
    """
    ahead: Counter[tuple[str, str]] = Counter()
    for each in comparisons:
        if each.left and each.winner != TIE:
            ahead[each.sheet] += 1 if each.winner == each.left else -1
    left, right = (sum(side * net > 0 for net in ahead.values()) for side in (1, -1))
    n = left + right
    if n < FEWEST_BLOCKS:
        told = f"n = {n}: fewer than {FEWEST_BLOCKS} blind draws with a winner say nothing of what is chance."
        return Effect(n, n, "blind draws", told=told)
    share, z = left / n, normal(level)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    tail = sum(math.comb(n, k) for k in range(min(left, right) + 1)) / 2**n
    estimate = Estimate(share, max(0.0, centre - reach), min(1.0, centre + reach), n)
    return Effect(n, n, "blind draws", estimate, min(1.0, 2 * tail))


def seat_effect_on_points(ahead: Iterable[float], level: float = 0.95) -> Effect:
    """Mean of what the leftmost submission got more than the rightmost one.

    The draw of the seats gives either sign to a difference, so that the test holds whoever the models are.

    Args:
        ahead: The differences in points, one per blind draw.
        level: Probability with which the interval covers.

    Returns:
        The difference in points; ``n`` counts draws.
    """
    blocks = [(value, 1.0) for value in ahead]
    return flipped(blocks, "blind draws", len(blocks), level)


def length_effect(scored: Iterable[Sized], level: float = 0.95) -> Effect:
    """How many points more a submission has that is twice as long, within one sheet.

    A slope of points over log₂ of lines, each taken from the mean of its sheet: tasks that ask for more code
    and judges who are kinder are not in it. What models have that write more is.

    Args:
        scored: Submissions without a line do not count.
        level: Probability with which the interval covers.

    Returns:
        Points per doubling; ``n`` counts scored submissions.
    """
    sheets: defaultdict[tuple[str, str], list[Sized]] = defaultdict(list)
    for each in scored:
        if each.lines > 0:
            sheets[each.task, each.judge].append(each)
    cells: dict[tuple[str, str], tuple[float, float]] = {}
    n = 0
    for sheet, own in sheets.items():
        size = np.log2([each.lines for each in own])
        size = size - size.mean()
        if (square := float(size @ size)) > 0:
            cells[sheet] = float(size @ np.array([each.points for each in own])), square
            n += len(own)
    return blocked(cells, SHEETS, n, level)
