"""Groups of weights, and what projecting each to s·{-1, 0, 1} gives.

The challenge says groups of 128 and not along what. A group of consecutive weights may lie along the
inputs of one output, or run on through the matrix as it is stored; its answers show which one is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ALLOWED", "Grouping", "Scale", "groupings", "scales"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which weights share a scale.

    Attributes:
        name: In words.
        along: ``inputs``, ``outputs``, ``flat`` (through the matrix as it is stored), ``joined``, ``split``
            or ``equal`` (along the inputs, the last ones otherwise), ``interleaved`` or ``strided`` (as far
            apart as there are groups, of an output or of all), ``all outputs``, ``row``, ``column`` or
            ``all``.
        size: Weights per group; 0 where the whole row, column or matrix is one.
    """

    name: str
    along: str
    size: int

    def ids(self, shape: tuple[int, int], transposed: bool) -> Array:
        """The group of every weight.

        Args:
            shape: (out, in).
            transposed: Whether the submission stores (in, out).
        """
        out, width = np.indices(shape)
        rows, columns = shape
        size = self.size
        match self.along:
            case "inputs":
                ids = out * -(-columns // size) + width // size
            case "outputs":
                ids = width * -(-rows // size) + out // size
            case "flat":
                ids = (width * rows + out if transposed else out * columns + width) // size
            case "joined":
                ids = out * -(-columns // size) + np.minimum(width // size, max(columns // size - 1, 0))
            case "equal":
                ids = out * -(-columns // size) + width * -(-columns // size) // columns
            case "split":
                parts = np.array_split(np.arange(columns), -(-columns // size))
                ids = out * len(parts) + np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            case "interleaved":
                ids = out * -(-columns // size) + width % -(-columns // size)
            case "strided":
                groups = -(-columns // size)
                ids = (out * groups * size + width) % (rows * groups)
            case "all outputs":
                ids = width // size
            case "row":
                ids = out
            case "column":
                ids = width
            case _:
                ids = np.zeros(shape, np.int64)
        return (
            np.unique(ids, return_inverse=True)[1].reshape(shape)
            if self.along in ("joined", "strided")
            else np.asarray(ids)
        )


def groupings(transposed: bool, size: int) -> tuple[Grouping, ...]:
    """What "groups of ``size``" may mean: along the inputs, or of weights that are consecutive in memory.

    Args:
        transposed: Whether the submission stores (in, out), where rows run along the outputs.
        size: Weights per group.
    """
    stored = "(in, out)" if transposed else "(out, in)"
    found = [
        Grouping(f"groups of {size} along the inputs", "inputs", size),
        Grouping(f"groups of {size} of the flattened {stored} weight", "flat", size),
    ]
    if transposed:
        found.append(
            Grouping(f"groups of {size} along the last axis of the (in, out) weight", "outputs", size)
        )
    return tuple(found)


def _others(transposed: bool, size: int) -> Iterator[Grouping]:
    """Mistakes, for telling what a submission does instead."""
    yield Grouping(f"a last group that is shorter than {size} joined to the one before it", "joined", size)
    yield Grouping(f"as many groups as of {size}, but of equal lengths", "split", size)
    yield Grouping(f"as many groups as of {size}, their ends spread evenly", "equal", size)
    apart = f"groups of {size} that lie as far apart as there are groups"
    yield Grouping(f"{apart} of an output, not side by side", "interleaved", size)
    yield Grouping(f"{apart} of all outputs, not side by side", "strided", size)
    yield Grouping(f"{size} inputs of all outputs together", "all outputs", size)
    yield Grouping("one scale for the whole matrix", "all", 0)
    yield Grouping("one scale per output", "row", 0)
    yield Grouping("one scale per input", "column", 0)
    for other in (8, 16, 32, 64, 100, 127, 129, 256, 512):
        yield from groupings(transposed, other)
    if not transposed:
        yield Grouping(f"groups of {size} along the outputs", "outputs", size)


ALLOWED = groupings


@dataclass(frozen=True, slots=True)
class Scale:
    """A rule for s, and the s that it gives every weight.

    Attributes:
        name: In words.
        grouping: Which weights share it.
        values: s, of the weight's shape.
    """

    name: str
    grouping: Grouping
    values: Array


#: What may be taken for mean|W|.
_RULES = {
    "max|W|": "max",
    "median|W|": "median",
    "the root mean square of W": "rms",
    "the standard deviation of W": "std",
    "half of max|W|": "half",
    "|mean W|": "signed",
    "mean|W| of the entries that are not 0": "nonzero",
}


def mean_scale(weight: Array, grouping: Grouping, transposed: bool) -> Scale:
    """S = mean|W| per group."""
    return Scale(
        "mean|W|", grouping, _per_group(np.abs(weight), grouping.ids(_shape(weight), transposed), "mean")
    )


def scales(weight: Array, transposed: bool, size: int) -> Iterator[Scale]:
    """Every rule that is known to be taken for the right one, likeliest mistakes first.

    Args:
        weight: Latent weights (out, in).
        transposed: Whether the submission stores (in, out).
        size: Weights per group.
    """
    right = groupings(transposed, size)
    for grouping in (*right, *_others(transposed, size)):
        yield mean_scale(weight, grouping, transposed)
    for grouping in right:
        ids = grouping.ids(_shape(weight), transposed)
        yield Scale("the sum of |W| over 128, padding zeros counted", grouping, _padded(weight, ids, size))
        for name, how in _RULES.items():
            yield Scale(name, grouping, _per_group(weight, ids, how))
        yield Scale("mean|W| of its row up to the end of its group", grouping, _so_far(weight, size))
        yield Scale("mean|W| of the last 128 of a row, for all of these", grouping, _moved_back(
            weight, mean_scale(weight, grouping, transposed).values, size
        ))  # fmt: skip
        yield Scale("the largest mean|W| of any output's group", grouping, np.broadcast_to(
            mean_scale(weight, grouping, transposed).values.max(axis=0, keepdims=True), weight.shape
        ))  # fmt: skip
        inverse = mean_scale(weight, grouping, transposed).values
        inverse = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0)
        yield Scale("1 / mean|W|: levels are divided by their scale", grouping, inverse)
    yield Scale("1: the levels without a scale", right[0], np.ones(weight.shape))


def _so_far(weight: Array, size: int) -> Array:
    """Mean|W| of everything before the end of each group."""
    values = np.empty_like(weight, dtype=np.float64)
    for start in range(0, weight.shape[1], size):
        values[:, start : start + size] = np.abs(weight[:, : start + size]).mean(axis=1, keepdims=True)
    return values


def _moved_back(weight: Array, right: Array, size: int) -> Array:
    """A last group that is short is moved back over the one before it, so that it is whole."""
    values = right.copy()
    if weight.shape[1] % size:
        values[:, -size:] = np.abs(weight[:, -size:]).mean(axis=1, keepdims=True)
    return values


def _shape(weight: Array) -> tuple[int, int]:
    return int(weight.shape[0]), int(weight.shape[1])


def _padded(weight: Array, ids: Array, size: int) -> Array:
    totals = np.zeros(int(ids.max()) + 1)
    np.add.at(totals, ids, np.abs(weight))
    return np.asarray(totals[ids] / size)


def _per_group(weight: Array, ids: Array, how: str) -> Array:
    values = np.zeros(int(ids.max()) + 1)
    order = np.argsort(ids, axis=None, kind="stable")
    flat = weight.reshape(-1)[order]
    starts = np.searchsorted(ids.reshape(-1)[order], np.arange(len(values)))
    for index, part in enumerate(np.split(flat, starts[1:])):
        values[index] = _of_group(part, how)
    return np.asarray(values[ids])


def _of_group(part: Array, how: str) -> float:
    size = np.abs(part)
    match how:
        case "mean":
            return float(size.mean())
        case "max":
            return float(size.max())
        case "half":
            return float(size.max()) / 2
        case "median":
            return float(np.median(size))
        case "rms":
            return float(np.sqrt((part * part).mean()))
        case "std":
            return float(part.std())
        case "signed":
            return float(abs(part.mean()))
        case _:
            return float(size[size > 0].mean()) if (size > 0).any() else 0.0
