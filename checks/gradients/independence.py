"""Which entries of an input can be perturbed together: blocks that reach no output of each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Forward", "Independence", "block_sums", "independent"]

Array = npt.NDArray[Any]
#: The function whose derivative is wanted: inputs by name → one array.
Forward = Callable[[Mapping[str, Array]], Array]

#: Other blocks may change by this much of the largest output: a matrix product may round by its shape.
_STILL = 1e-12


@dataclass(frozen=True, slots=True)
class Independence:
    """How an input of a function falls into blocks.

    Attributes:
        name: The input.
        axes: Pairs (input axis, output axis): index i along the one reaches index i along the other only.
            Empty: every entry may reach every output, and each is perturbed alone.
    """

    name: str
    axes: tuple[tuple[int, int], ...] = ()

    def colours(self, shape: tuple[int, ...]) -> Iterator[tuple[int | slice, ...]]:
        """Index expressions, each one entry of every block of an input of ``shape``."""
        blocked = {axis for axis, _out in self.axes}
        ranges = [(slice(None),) if axis in blocked else range(n) for axis, n in enumerate(shape)]
        return itertools.product(*ranges)

    def count(self, shape: tuple[int, ...]) -> int:
        """How many perturbations cover an input of ``shape``."""
        blocked = {axis for axis, _out in self.axes}
        return int(np.prod([n for axis, n in enumerate(shape) if axis not in blocked], dtype=np.int64))


def block_sums(values: Array, blocks: Independence) -> Array:
    """Sum an output over everything but its blocks.

    Args:
        values: What has the output's shape.
        blocks: How it falls into blocks.

    Returns:
        One number per block, axes in the input's order.
    """
    ordered = sorted(blocks.axes)
    kept = [out for _axis, out in ordered]
    summed = np.asarray(values.sum(axis=tuple(axis for axis in range(values.ndim) if axis not in kept)))
    rank = {out: position for position, out in enumerate(sorted(kept))}
    return summed.transpose([rank[out] for out in kept])


def independent(
    forward: Forward,
    at: Mapping[str, Array],
    blocks: Independence,
    rng: np.random.Generator,
    *,
    scale: float = 1.0,
) -> bool:
    """Whether a large change of one block leaves the outputs of all other blocks as they were.

    The first, the last and a random block are tried: what is causal reaches in one direction only.

    Args:
        forward: The function.
        at: Its inputs.
        blocks: What is claimed.
        rng: Chooses the block and the change.
        scale: Size of the change.
    """
    before = forward(at)
    shape = at[blocks.name].shape
    tried = [
        {axis: 0 for axis, _out in blocks.axes},
        {axis: shape[axis] - 1 for axis, _out in blocks.axes},
        {axis: int(rng.integers(shape[axis])) for axis, _out in blocks.axes},
    ]
    return all(
        _alone(forward, at, blocks, chosen, before, scale * rng.standard_normal(shape)) for chosen in tried
    )


def _alone(
    forward: Forward,
    at: Mapping[str, Array],
    blocks: Independence,
    chosen: Mapping[int, int],
    before: Array,
    change: Array,
) -> bool:
    where: list[int | slice] = [slice(None)] * change.ndim
    reached: list[int | slice] = [slice(None)] * before.ndim
    for axis, out in blocks.axes:
        where[axis] = reached[out] = chosen[axis]
    new = at[blocks.name].copy()
    new[tuple(where)] += change[tuple(where)]
    moved = np.abs(forward({**at, blocks.name: new}) - before)
    moved[tuple(reached)] = 0.0
    return bool(np.max(moved, initial=0.0) <= _STILL * np.max(np.abs(before), initial=0.0))
