"""Projections that are those of other weights of their shape, whole or by scale: something was kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.grouping import Grouping, mean_scale

__all__ = ["kept_from_others"]

Array = npt.NDArray[Any]

#: Over max(1, s), of projections; relatively, of scales.
_SAME, _SCALE = 2e-5, 2e-6


def kept_from_others(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """What an answer shares with weights that came before it, as a clause; empty where it shares nothing.

    Args:
        answers: Latent weights and their projection, (out, in) each, in the order of the calls.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    right = [_projected(weight, grouping, transposed) for weight, _projected_ in answers]
    off = [not _near(projected, own) for (_weight, projected), own in zip(answers, right, strict=True)]
    earlier = [
        any(_near(answers[at][1], right[before]) for before in _alike(answers, at))
        for at in range(len(answers))
        if off[at]
    ]
    if earlier and all(earlier):
        return "they are the projection of the weights of an earlier call of this shape"
    whole = [
        bool(np.allclose(answers[at][1], answers[before][1], rtol=_SCALE, atol=0.0))
        for at in range(len(answers))
        for before in _alike(answers, at)
    ]
    if whole and all(whole):
        return "they are the same whatever the weights are: those of the first weights of a shape"
    scales = [_scales(projected, grouping, transposed) for _weight, projected in answers]
    same = [
        _equal(scales[at], scales[before])
        for at in range(len(answers))
        for before in _alike(answers, at)
        if off[at] or off[before]
    ]
    if same and all(same):
        return "s is the same whatever the weights are: that of other weights, which came before them"
    return ""


def _alike(answers: Sequence[tuple[Array, Array]], at: int) -> Iterator[int]:
    """Earlier answers of one shape whose weights are others."""
    weight = answers[at][0]
    for before in range(at):
        other = answers[before][0]
        if other.shape == weight.shape and not np.array_equal(other, weight):
            yield before


def _projected(weight: Array, grouping: Grouping, transposed: bool) -> Array:
    s = mean_scale(weight, grouping, transposed).values
    return np.asarray(s * np.clip(np.round(weight / np.where(s > 0, s, 1.0)), -1, 1))


def _near(one: Array, other: Array) -> bool:
    # many weights may lie at s/2, where either neighbour is right
    off = np.abs(one - other) > _SAME * np.maximum(1.0, np.abs(other))
    return bool(off.mean() < 1e-3)


def _scales(projected: Array, grouping: Grouping, transposed: bool) -> Array:
    """The largest of each group, NaN where all are 0."""
    ids = grouping.ids((projected.shape[0], projected.shape[1]), transposed).ravel()
    largest = np.zeros(int(ids.max()) + 1)
    np.maximum.at(largest, ids, np.abs(projected).ravel())
    return np.where(largest > 0, largest, np.nan)


def _equal(one: Array, other: Array) -> bool:
    shown = np.isfinite(one) & np.isfinite(other)
    return bool(shown.any()) and bool((np.abs(one - other)[shown] <= _SCALE * one[shown]).all())
