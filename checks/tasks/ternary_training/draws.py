"""Latent weights that tell groupings, scales and rounding rules apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.own_sizes import OwnSizes
from judge_tui.checks.sizes import About, Range

__all__ = ["Draw", "about", "draws", "exact_inputs", "mixed", "own_sizes", "work"]

Array = npt.NDArray[Any]


#: Outputs, whole groups and what is behind them.
_RAGGED: tuple[tuple[Range, int, Range], ...] = (
    ((3, 9), 2, (20, 108)),
    ((3, 9), 1, (20, 108)),
    ((3, 9), 0, (40, 120)),
    ((130, 140), 0, (24, 60)),
)


#: Axes that an integer of the source may concern, and what they may be because of it.
_AXES = {"in": (2, 2048), "out": (2, 2048)}
_MOST_ABOUT = 6
#: Numbers of outputs and inputs that no layer has a reason to refuse are multiples of these.
_UNITS = {"in": 128, "out": 4}


@dataclass(frozen=True, slots=True)
class Draw:
    """One matrix of latent weights.

    Attributes:
        name: What is special about it.
        weight: (out, in).
        even: Whether its groups are whole, so that no layer has a reason to refuse it.
    """

    name: str
    weight: Array
    even: bool = True

    def __str__(self) -> str:
        return f"{self.name} {self.weight.shape}"


def draws(bench: Bench, out: int) -> Iterator[Draw]:
    """Every draw of the check, the plainest first; ``out`` outputs where groups are to be whole."""
    sizes = bench.sizes("draws")
    shape = out, 128
    yield Draw("mixed scales", mixed(bench.rng("mixed"), shape))
    yield Draw("mixed scales again", mixed(bench.rng("again"), shape))
    yield Draw("standard deviation 0.02", 0.02 * bench.rng("small").standard_normal(shape))
    sizes_of_rows = 10.0 ** bench.rng("sizes of rows").uniform(-5.0, -1.0, (out, 1))
    yield Draw("weights of 1e-5 to 0.1", sizes_of_rows * bench.rng("tiny").standard_normal(shape))
    yield Draw("ties at s/2", _ties(bench.rng("ties"), out))
    yield Draw("groups of zeros", _zeros(bench.rng("zeros"), out))
    for name, rest in (("one weight of each group", False), ("one weight far above the rest", True)):
        yield Draw(name, _lone(bench.rng(name), rest=rest))
    for name, groups in (("several groups", sizes.between(2, 4)), ("many groups", sizes.between(9, 16))):
        yield Draw(name, mixed(bench.rng(name), (out, 128 * groups)))
    outs = (128 * sizes.between(2, 3)) if out % 128 == 0 else sizes.multiple(4, 260, 400)
    yield Draw("many outputs", mixed(bench.rng("outs"), (outs, 128)))
    yield Draw("large weights", 300.0 * mixed(bench.rng("large"), shape))
    # What packs four weights into a byte may refuse such a number of outputs.
    odd = 2 * sizes.between(1, 20) + 1, 128 * sizes.between(1, 2)
    yield Draw("an odd number of outputs", mixed(bench.rng("odd"), odd), even=False)
    for number, (rows, whole, behind) in enumerate(_RAGGED):
        shape = sizes.between(*rows), 128 * whole + sizes.between(*behind)
        yield Draw("ragged", mixed(bench.rng("ragged", number), shape), even=False)


def own_sizes(bench: Bench) -> OwnSizes:
    """Sizes that the submission's source names."""
    return OwnSizes(bench, _AXES, _MOST_ABOUT)


def about(bench: Bench, own: OwnSizes, out: int) -> Iterator[tuple[About, Draw]]:
    """Inputs and outputs at sizes that the source names: in whole groups, but for what it names together."""

    def shape(one: About) -> tuple[int, int]:
        alone = len(one.at) == 1
        named = {
            axis: _UNITS[axis] * -(-size // _UNITS[axis]) if alone else size for axis, size in one.at.items()
        }
        axes = {"in": 128, "out": out, **named}
        return axes["out"], axes["in"]

    tried: set[tuple[int, int]] = set()
    for one in own.each(lambda one: work(shape(one))):
        if (at := shape(one)) not in tried:
            tried.add(at)
            yield one, Draw(str(one), mixed(bench.rng("about", *at), at))


def work(shape: tuple[int, int]) -> int:
    """Products that show the weights (out, in) of a layer: it answers a unit vector for each input."""
    return shape[0] * shape[1] ** 2


def mixed(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Normal weights whose scale differs from row to row, column to column and block to block of 32."""
    out, width = shape
    blocks = 10.0 ** rng.uniform(-0.5, 0.3, (-(-out // 32), -(-width // 32)))
    local = blocks.repeat(32, axis=0)[:out].repeat(32, axis=1)[:, :width]
    rows, columns = rng.uniform(0.5, 1.5, (out, 1)), rng.uniform(0.5, 1.5, (1, width))
    return np.asarray(rng.standard_normal(shape) * local * rows * columns)


def exact_inputs(rng: np.random.Generator, rows: int, width: int) -> Array:
    """Inputs (rows, width) that 8 bits hold exactly, for layers that quantize their activations as well.

    Whole numbers up to 127, over 64, with the 127 in every row.
    """
    x = rng.integers(-126, 127, (rows, width)).astype(np.float64)
    x[np.arange(rows), rng.integers(width, size=rows)] = 127.0
    return x / 64


def _ties(rng: np.random.Generator, out: int) -> Array:
    """Rows (and 128 × 128: columns) whose mean|W| is exactly 1, a quarter of their entries at ±0.5."""
    sizes = rng.permutation(np.repeat([0.5, 1.0, 1.0, 1.5], 32))
    index = np.add.outer(np.arange(out), np.arange(128)) % 128
    return np.asarray(sizes[index] * rng.choice([-1.0, 1.0], (out, 128)))


def _lone(rng: np.random.Generator, *, rest: bool) -> Array:
    """A square of 128 whose rows and columns have one large weight each, of either sign.

    It is 128 times the mean of its group where the rest is zero: more than 8 bits hold. With a rest, that
    varies from row to row, and many a group stays as near to 128 as can be.
    """
    weight = np.zeros((128, 128))
    if rest:
        weight = rng.standard_normal(weight.shape) * 10.0 ** rng.uniform(-7.0, 0.0, (128, 1))
    signs = rng.permutation(np.repeat([-1.0, 1.0], 64))
    weight[np.arange(128), rng.permutation(128)] = signs * rng.uniform(8.0, 60.0, 128)
    return weight


def _zeros(rng: np.random.Generator, out: int) -> Array:
    weight = mixed(rng, (out, 128))
    weight[rng.integers(out)] = 0.0
    weight[:, rng.integers(128)] = 0.0
    return weight
