"""A wrong merge of partial results is told by what it gives, and a right one is never taken for one."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.merging import wrong_merge

#: Partial results, one after another: o divided by l, m and l of each (P, B, H, N, …).
Merge = Callable[[Any, Any, Any], Any]
BASES = "takes e^L for weights of an L in base two"
LARGER = "goes on with the larger L of both, not with that of both together"
NATURAL = "goes on with an L in base two of which what is added is a natural logarithm"


class Splitting:
    """A forward that cuts keys into parts of some tiles each and merges them in some way."""

    def __init__(
        self, merge: Merge, *, tiles: int = 0, keys: int = 0, integers: tuple[int, ...] = ()
    ) -> None:
        self.merge, self.tiles, self.keys, self.causal = merge, tiles, keys, (True, False)
        listed = tuple(SimpleNamespace(value=value, doubt=0) for value in integers)
        self.bench = SimpleNamespace(rng=lambda *about: np.random.default_rng(3), integers=listed)

    def __call__(self, case: Case) -> Any:
        scores = case.q @ case.k.swapaxes(-1, -2) / math.sqrt(case.q.shape[-1])
        step = self.keys or self.tiles * case.tile
        m, z, o = [], [], []
        for start in range(0, scores.shape[-1], step):
            part = scores[..., start : start + step]
            m.append(part.max(axis=-1, keepdims=True))
            p = np.exp(part - m[-1])
            z.append(p.sum(axis=-1, keepdims=True))
            o.append(p @ case.v[:, :, start : start + step] / z[-1])
        return self.merge(np.stack(m), np.stack(z), np.stack(o))


def weighed(weights: Any, o: Any) -> Any:
    return (weights * o).sum(axis=0) / weights.sum(axis=0)


def right(m: Any, z: Any, o: Any) -> Any:
    return weighed(z * np.exp(m - m.max(axis=0)), o)


def mixed(m: Any, z: Any, o: Any) -> Any:
    level = (m + np.log(z)) / math.log(2)
    return weighed(np.exp(level - level.max(axis=0)), o)


def averaged(m: Any, z: Any, o: Any) -> Any:
    return o.mean(axis=0)


def without_sums(m: Any, z: Any, o: Any) -> Any:
    return weighed(np.exp(m - m.max(axis=0)), o)


def larger_of_both(m: Any, z: Any, o: Any) -> Any:
    level = m + np.log(z)
    out, held = o[0], level[0]
    for other, its in zip(o[1:], level[1:], strict=True):
        top = np.maximum(held, its)
        out = weighed(np.exp(np.stack([held, its]) - top), np.stack([out, other]))
        held = top
    return out


def base_two_then_natural(m: Any, z: Any, o: Any) -> Any:
    level = (m + np.log(z)) / math.log(2)
    out, held = o[0], level[0]
    for other, its in zip(o[1:], level[1:], strict=True):
        top = np.maximum(held, its)
        weights = np.exp2(np.stack([held, its]) - top)
        out, held = weighed(weights, np.stack([out, other])), top + np.log(weights.sum(axis=0))
    return out


@pytest.mark.parametrize(
    ("forward", "told"),
    [
        (Splitting(mixed, tiles=4), f"parts of 4 tiles, and their merge {BASES}"),
        (Splitting(averaged, tiles=1), "tiles, and their merge weighs all parts alike, whatever their L"),
        (
            Splitting(without_sums, tiles=2),
            "parts of 2 tiles, and their merge weighs them by exp(m) alone, without their sums l",
        ),
        (
            Splitting(larger_of_both, tiles=2),
            f"parts of 2 tiles, and their merge {LARGER}",
        ),
        (
            Splitting(base_two_then_natural, tiles=1),
            f"tiles, and their merge {NATURAL}",
        ),
        (
            Splitting(mixed, keys=19, integers=(7, 19)),
            f"parts of 19 keys, and their merge {BASES}",
        ),
    ],
    ids=["base", "average", "m alone", "larger L", "mixed as it goes", "of the source"],
)  # fmt: skip
def test_the_mistake_and_the_parts_are_told(forward: Any, told: str) -> None:
    assert wrong_merge(forward) == f"the keys are cut into {told}"


@pytest.mark.parametrize(
    "forward",
    [
        Splitting(right, tiles=3),
        Splitting(lambda m, z, o: np.zeros(o.shape[1:]), tiles=3),
        Splitting(lambda m, z, o: 2 * right(m, z, o), tiles=3),
        # no size of parts that is tried
        Splitting(averaged, keys=19),
    ],
    ids=["right", "zeros", "twice", "parts of a size that nothing names"],
)
def test_what_is_no_such_mistake_is_taken_for_none(forward: Any) -> None:
    assert wrong_merge(forward) == ""
