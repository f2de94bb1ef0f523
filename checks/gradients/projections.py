"""Random projections: all entries of a gradient at the price of a few calls.

The directions have entries ±1 and a fresh seed. An all-positive direction would lie in
the null space of a normalisation, and a fixed one could be fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from judge_tui.checks.gradients.differences import STEPS, Estimate, along
from judge_tui.checks.gradients.independence import Array, Forward, Independence

__all__ = ["projection", "signs"]


def signs(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    """A direction with entries +1 and −1."""
    return np.asarray(rng.integers(0, 2, tuple(shape)) * 2.0 - 1.0)


def projection(
    forward: Forward,
    at: Mapping[str, Array],
    blocks: Independence,
    weights: Array,
    direction: Array,
    *,
    scale: Array | float = 1.0,
    steps: Sequence[float] = STEPS,
) -> Estimate:
    """The derivative of every block's weighted output along a direction.

    A gradient ``g`` of the whole agrees when ``(g * direction)`` summed over a block equals ``value``.

    Args:
        forward: The function.
        at: Its inputs.
        blocks: The input, and how it falls into blocks.
        weights: The output's weights.
        direction: Of the input's shape; see :func:`signs`.
        scale: On which scale the function changes; one number per block must do, broadcast to the input.
        steps: As in :func:`judge_tui.checks.gradients.differences`.

    Returns:
        One number per block, in units of the unscaled direction. Six calls per step tried.
    """
    spread = np.broadcast_to(np.asarray(scale, np.float64), direction.shape)
    # Entries of one block share a scale, so that it can be divided out again.
    free = tuple(axis for axis in range(direction.ndim) if axis not in {i for i, _out in blocks.axes})
    per_block = spread.min(axis=free)
    shaped = np.expand_dims(per_block, free)
    # All entries move at once: a shorter step keeps the whole move on the function's scale.
    count = max(1, blocks.count(direction.shape))
    found: list[Estimate] = []
    for step in steps:
        made = along(forward, at, blocks, weights, direction * shaped, step / np.sqrt(count))
        found.append(Estimate(made.value / per_block, made.noise / per_block, step))
        if found[-1].disagreement <= 1e-7:
            break
    return min(found, key=lambda estimate: estimate.disagreement)
