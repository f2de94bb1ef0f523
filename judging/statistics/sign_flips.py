"""The sign-flip test of a mean or a slope, and the interval of all values that it does not reject.

Were there no effect, the sum of each independent block could as well have had the other sign. The p-value is
the share of all patterns of signs under which the total is as far from 0 as it is. Its interval runs between
two of the ratios that subsets of the blocks give, in their order, and holds 0 exactly where p > 1 − level.

Up to :data:`MOST_EXACT` blocks every pattern is tried, beyond that a seeded sample: same input, same figures.

Source: Fisher (1935), The Design of Experiments, §21; Hartigan (1969), Using subsample values as typical
values, JASA 64, 1303-1317; Phipson and Smyth (2010), Permutation p-values should never be zero, Statistical
Applications in Genetics and Molecular Biology 9, 39.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from judge_tui.judging.statistics.estimate import Effect, Estimate
from judge_tui.judging.statistics.likelihood import Array

__all__ = ["FEWEST_BLOCKS", "MOST_EXACT", "SHEETS", "blocked", "flipped"]

#: With fewer blocks no pattern of signs has p ≤ 0.05: 2 / 2⁵ is 0.0625.
FEWEST_BLOCKS = 6
#: What a judge's scores on one task are called.
SHEETS = "tasks as judges saw them"
#: Up to here all 2ⁿ patterns are tried.
MOST_EXACT = 16
#: Patterns of a sample, and where its stream of random bits starts.
_SAMPLED, _SEED = 19_999, 1935
#: Relative to the sum of what is added, what counts as 0.
_NOTHING = 1e-12


def blocked(
    cells: Mapping[tuple[str, str], tuple[float, float]], of: str, n: int, level: float = 0.95
) -> Effect:
    """Test by tasks where there are enough of them, else cell by cell, which speaks of these tasks alone.

    Judges of one task see the same submissions: their words are no independent news on the models.

    Args:
        cells: Task and what else names a cell → sum and weight, as for :func:`flipped`.
        of: What the cells are, in the plural.
        n: Observations.
        level: Probability with which the interval covers.
    """
    if len({task for task, _ in cells}) < FEWEST_BLOCKS:
        return flipped(list(cells.values()), of, n, level)
    added: dict[str, tuple[float, float]] = {}
    # the order of what is added must not show in the last digit
    for (task, _), (value, weight) in sorted(cells.items()):
        total = added.get(task, (0.0, 0.0))
        added[task] = total[0] + value, total[1] + weight
    return flipped(list(added.values()), "tasks", n, level)


def flipped(blocks: Sequence[tuple[float, float]], of: str, n: int, level: float = 0.95) -> Effect:
    """Test whether the ratio of two sums over independent blocks is 0.

    Args:
        blocks: Of each the sum and its weight, which is positive: for a mean the sum of the values and their
            number, for a slope the sums of products and of squares.
        of: What the blocks are, in the plural.
        n: Observations.
        level: Probability with which the interval covers.
    """
    if len(blocks) < FEWEST_BLOCKS:
        told = f"n = {len(blocks)}: fewer than {FEWEST_BLOCKS} {of} say nothing of what is chance."
        return Effect(n, len(blocks), of, told=told)
    ordered = np.array(sorted(blocks), dtype=np.float64)
    totals, shares = _subsets(ordered)
    nothing = _NOTHING * float(np.abs(ordered[:, 0]).sum())
    patterns = len(totals) + 1
    below, above = int((totals <= nothing).sum()) + 1, int((totals >= -nothing).sum()) + 1
    p = min(1.0, 2 * min(below, above) / patterns)
    # a hair above the product, which may be a whole number
    place = int((1 - level) / 2 * patterns + 1e-9)
    ratios = np.sort(totals / shares)
    value = float(ordered[:, 0].sum() / ordered[:, 1].sum())
    estimate = Estimate(value, float(ratios[place - 1]), float(ratios[-place]), n)
    return Effect(n, len(blocks), of, estimate, p)


def _subsets(ordered: Array) -> tuple[Array, Array]:
    """The sums and weights of all subsets but the empty one, or of a sample of them."""
    if len(ordered) <= MOST_EXACT:
        totals = np.zeros((1, 2))
        for row in ordered:
            totals = np.concatenate([totals, totals + row])
        return totals[1:, 0], totals[1:, 1]
    chosen = np.random.default_rng(_SEED).integers(0, 2, (_SAMPLED, len(ordered)), dtype=np.int8)
    # an empty one among so many blocks hardly occurs, and has no ratio
    chosen[~chosen.any(axis=1)] = 1
    totals = chosen @ ordered
    return totals[:, 0], totals[:, 1]
