"""Central differences of a function, coloured by independence, with their own error measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.gradients.independence import Array, Forward, Independence, block_sums

__all__ = ["STEPS", "Estimate", "along", "central", "differences"]

#: Steps in units of the scale: for float64 arithmetic, then for float32.
STEPS = (2e-3, 4e-2)
#: Disagreement of a step with its double, relative, below which no coarser step is tried.
_ENOUGH = 1e-7


@dataclass(frozen=True, slots=True)
class Estimate:
    """A derivative by differences.

    Attributes:
        value: The derivative.
        noise: How far the same derivative with the doubled step is from it, entry by entry: rounding
            of the function over the step, and truncation. The true error is of this size or smaller.
        step: The step that was taken, in units of the scale.
    """

    value: Array
    noise: Array
    step: float

    @property
    def disagreement(self) -> float:
        """The noise as a share of the value, in the 2-norm."""
        size = float(np.linalg.norm(self.value))
        return float(np.linalg.norm(self.noise)) / size if size else float(np.linalg.norm(self.noise))


def differences(
    forward: Forward,
    at: Mapping[str, Array],
    blocks: Independence,
    weights: Array,
    *,
    scale: Array | float = 1.0,
    steps: Sequence[float] = STEPS,
    only: slice = slice(None),
) -> Estimate:
    """The gradient of ``sum(weights * forward(at))`` by an input, one entry of every block at a time.

    Args:
        forward: The function.
        at: Its inputs.
        blocks: The input, and how it falls into blocks.
        weights: The output's weights (a loss's upstream gradient), of the output's shape.
        scale: On which scale the function changes, broadcast to the input.
        steps: Steps to try in units of ``scale``, finest first; the one that agrees best with its double
            is taken.
        only: The perturbations that are made; the value is 0 elsewhere.

    Returns:
        An estimate of the input's shape. Six calls of the function per perturbation and step.
    """
    shape = at[blocks.name].shape
    spread = np.broadcast_to(np.asarray(scale, np.float64), shape)
    best: Estimate | None = None
    for step in steps:
        value, noise = np.zeros(shape), np.zeros(shape)
        for colour in list(blocks.colours(shape))[only]:
            direction = np.zeros(shape)
            direction[colour] = spread[colour]
            found = along(forward, at, blocks, weights, direction, step)
            value[colour], noise[colour] = found.value / spread[colour], found.noise / spread[colour]
        made = Estimate(value, noise, step)
        if best is None or made.disagreement < best.disagreement:
            best = made
        if best.disagreement <= _ENOUGH:
            break
    assert best is not None
    return best


def central(
    forward: Forward,
    at: Mapping[str, Array],
    blocks: Independence,
    weights: Array,
    *,
    scale: Array | float = 1.0,
    step: float = 1e-4,
    sampled: int = 8,
    only: slice = slice(None),
) -> Estimate:
    """The same gradient by the two-point rule: a third of the calls, its error measured on a sample.

    Args:
        forward: The function.
        at: Its inputs.
        blocks: The input, and how it falls into blocks.
        weights: The output's weights, of the output's shape.
        scale: On which scale the function changes, broadcast to the input.
        step: In units of ``scale``; 1e-4 is right for float64 arithmetic.
        sampled: Perturbations, spread over all, that are made with the doubled step too.
        only: The perturbations that are made; the value is 0 elsewhere.

    Returns:
        An estimate of the input's shape, whose noise is the largest seen on the sample, per block. Two calls
        per perturbation, and two more for each that is sampled. The error of the rule is of order step².
    """
    centre = at[blocks.name]
    reach = step * np.broadcast_to(np.asarray(scale, np.float64), centre.shape)
    value, noise, moved = np.zeros(centre.shape), np.zeros(centre.shape), centre.copy()
    apart = np.empty(weights.shape)
    colours = list(blocks.colours(centre.shape))[only]
    doubled = set(np.linspace(0, len(colours) - 1, min(sampled, len(colours)), dtype=int).tolist())

    def slope(colour: tuple[int | slice, ...], times: float) -> Array:
        moved[colour] = centre[colour] + times * reach[colour]
        ahead = forward({**at, blocks.name: moved})
        moved[colour] = centre[colour] - times * reach[colour]
        behind = forward({**at, blocks.name: moved})
        moved[colour] = centre[colour]
        np.subtract(ahead, behind, out=apart)
        np.multiply(apart, weights, out=apart)
        return block_sums(apart, blocks) / (2.0 * times * reach[colour])

    worst: Array | float = 0.0
    for index, colour in enumerate(colours):
        value[colour] = slope(colour, 1.0)
        if index in doubled:
            worst = np.maximum(worst, np.abs(slope(colour, 2.0) - value[colour]) / 3.0)
    for colour in colours:
        noise[colour] = worst
    return Estimate(value, noise, step)


def along(
    forward: Forward,
    at: Mapping[str, Array],
    blocks: Independence,
    weights: Array,
    direction: Array,
    step: float,
) -> Estimate:
    """The derivative of every block's weighted output along a direction, by the five-point rule.

    Args:
        forward: The function.
        at: Its inputs.
        blocks: The input, and how it falls into blocks.
        weights: The output's weights.
        direction: Of the input's shape.
        step: Multiplies the direction.

    Returns:
        One number per block. The error of the rule is of order step⁴.

    Source:
        Abramowitz and Stegun, "Handbook of Mathematical Functions", 25.3.6.
    """
    centre = at[blocks.name]

    def slope(times: float) -> Array:
        ahead = forward({**at, blocks.name: centre + times * step * direction})
        behind = forward({**at, blocks.name: centre - times * step * direction})
        # Subtracted before they are summed: a sum first would lose the digits that matter.
        return block_sums(weights * (ahead - behind), blocks) / (2.0 * times * step)

    one, two, four = slope(1.0), slope(2.0), slope(4.0)
    fine, coarse = (4.0 * one - two) / 3.0, (4.0 * two - four) / 3.0
    return Estimate(fine, np.abs(fine - coarse), step)
