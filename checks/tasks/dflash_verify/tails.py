"""Exact binomial tails, by which counts of draws are held."""

from __future__ import annotations

import numpy as np

__all__ = ["binomial_tail"]


def binomial_tail(count: int, total: int, share: float) -> float:
    """Probability that a count of so many draws is as far off as this one, on its side, both sides taken.

    Args:
        count: How often it came.
        total: Draws.
        share: Its probability.
    """
    if not 0.0 < share < 1.0:
        return 1.0 if count == round(total * share) else 0.0
    steps = np.arange(1, total + 1)
    factors = np.concatenate([[0.0], np.cumsum(np.log(total - steps + 1) - np.log(steps))])
    places = np.arange(total + 1)
    chances = np.exp(factors + places * np.log(share) + (total - places) * np.log1p(-share))
    return float(min(1.0, 2 * min(chances[: count + 1].sum(), chances[count:].sum())))
