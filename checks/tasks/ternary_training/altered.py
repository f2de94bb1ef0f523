"""Latent weights that were altered before they were projected: which alteration an answer speaks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.grouping import Grouping

__all__ = ["Altered", "alterations"]

Array = npt.NDArray[Any]
#: Latent weights (out, in) → what is projected in their place.
Altered = Callable[[Array], Array]

#: Bisections of a threshold: as fine as float64 is.
_HALVINGS = 60


def alterations(
    answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool
) -> Iterator[tuple[str, Altered]]:
    """What people do to weights on the way, in words, likeliest first.

    Args:
        answers: Latent weights and their projection, (out, in) each.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """

    def less_mean(axis: int | None) -> Altered:
        return lambda weight: weight - weight.mean(axis=axis, keepdims=True)

    def by_group(weight: Array) -> Array:
        ids = grouping.ids(_shape(weight), transposed)
        return np.asarray(weight - (np.bincount(ids.ravel(), weight.ravel()) / np.bincount(ids.ravel()))[ids])

    def projected(weight: Array) -> Array:
        ids = grouping.ids(_shape(weight), transposed)
        s = (np.bincount(ids.ravel(), np.abs(weight).ravel()) / np.bincount(ids.ravel()))[ids]
        return np.asarray(s * np.clip(np.round(weight / np.where(s > 0, s, 1.0)), -1, 1))

    if (edge := _edge(answers, grouping, transposed)) is not None:
        yield f"cut to ±{edge:.6g}", lambda weight: np.clip(weight, -edge, edge)
    yield "less their mean over the matrix", less_mean(None)
    yield "less the mean of their group", by_group
    yield "less the mean of their row", less_mean(1)
    yield "less the mean of their column", less_mean(0)
    yield "by their hyperbolic tangent", np.tanh
    yield (
        "by their hyperbolic tangent over its largest",
        lambda weight: np.tanh(weight) / max(float(np.abs(np.tanh(weight)).max()), 1e-300),
    )
    yield (
        "over the largest of them",
        lambda weight: weight / max(float(np.abs(weight).max()), 1e-300),
    )
    yield "less their mean and over their standard deviation", _standardised
    yield "of which the negative ones are 0", lambda weight: np.maximum(weight, 0.0)
    yield "that were projected already: it is done twice", projected
    yield "in half precision", lambda weight: weight.astype(np.float16).astype(np.float64)


def _standardised(weight: Array) -> Array:
    return np.asarray((weight - weight.mean()) / max(float(weight.std()), 1e-300))


def _edge(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> float | None:
    """Where weights are cut, if their scale is that of cut weights: from the group that it lowers most."""
    best: tuple[float, Array, float] | None = None
    for weight, projected in answers:
        ids = grouping.ids(_shape(weight), transposed).ravel()
        count = np.bincount(ids)
        scale = np.bincount(ids, np.abs(weight).ravel()) / count
        seen = np.zeros_like(scale)
        np.maximum.at(seen, ids, np.abs(projected).ravel())
        with np.errstate(all="ignore"):
            ratio = np.where((scale > 0) & (seen > 0), seen / scale, 1.0)
        group = int(np.argmin(ratio))
        if best is None or ratio[group] < best[0]:
            best = float(ratio[group]), np.abs(weight).ravel()[ids == group], float(seen[group])
    if best is None or not best[0] < 1.0 - 1e-6:
        return None
    _ratio, sizes, wanted = best
    low, high = 0.0, float(sizes.max())
    for _halving in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(sizes, middle).mean() < wanted else (low, middle)
    return high


def _shape(weight: Array) -> tuple[int, int]:
    return int(weight.shape[0]), int(weight.shape[1])
