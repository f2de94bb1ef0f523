"""The truth in float64, and the plain implementation that limits are calibrated by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Batch", "Gradients", "Statistics", "forward", "gradients", "plain", "statistics", "terms"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """One draw of everything that a layer norm takes.

    Attributes:
        x: (B, T, D) input.
        gamma: (D,) scale.
        beta: (D,) shift.
        eps: Added to the variance, inside the root.
        dy: (B, T, D) upstream gradient.
    """

    x: Array
    gamma: Array
    beta: Array
    eps: float
    dy: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, T, D)."""
        return self.x.shape

    @property
    def width(self) -> int:
        """D."""
        return int(self.x.shape[-1])

    def as_type(self, dtype: npt.DTypeLike) -> Batch:
        """The same batch with its arrays in ``dtype``."""
        arrays = {name: getattr(self, name).astype(dtype) for name in ("x", "gamma", "beta", "dy")}
        return replace(self, **arrays)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Per row: mean, variance and rstd = 1/√(var + eps), all (B, T, 1); x − mean and x̂, (B, T, D)."""

    mean: Array
    centred: Array
    var: Array
    rstd: Array
    xhat: Array


@dataclass(frozen=True, slots=True)
class Gradients:
    """dx (B, T, D), dgamma (D,), dbeta (D,)."""

    dx: Array
    dgamma: Array
    dbeta: Array


def statistics(batch: Batch) -> Statistics:
    """Row statistics in float64, free of cancellation at any offset.

    A row is shifted by its own first element before anything is averaged: the difference
    of two close numbers is exact (Sterbenz), and a shift changes no centred quantity.
    """
    x = batch.x.astype(np.float64)
    first = x[..., :1]
    shifted = x - first
    mean = shifted.mean(axis=-1, keepdims=True)
    centred = shifted - mean
    # What rounding left in the mean goes as well.
    centred = centred - centred.mean(axis=-1, keepdims=True)
    var = (centred * centred).mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(var + batch.eps)
    return Statistics(first + mean, centred, var, rstd, centred * rstd)


def forward(batch: Batch) -> Array:
    """Y = gamma·x̂ + beta."""
    gamma, beta = batch.gamma.astype(np.float64), batch.beta.astype(np.float64)
    return np.asarray(gamma * statistics(batch).xhat + beta)


def gradients(batch: Batch) -> Gradients:
    """The gradients of ``sum(y * dy)``.

    Source:
        Ba, Kiros and Hinton, "Layer Normalization" (2016), eq. 4, differentiated:
        dx = rstd·(g − mean(g) − x̂·mean(g·x̂)), g = dy·gamma.
    """
    row, dy = statistics(batch), batch.dy.astype(np.float64)
    g = dy * batch.gamma.astype(np.float64)
    along = (g * row.xhat).mean(axis=-1, keepdims=True)
    dx = row.rstd * (g - g.mean(axis=-1, keepdims=True) - row.xhat * along)
    return Gradients(dx, (dy * row.xhat).sum(axis=(0, 1)), dy.sum(axis=(0, 1)))


def terms(batch: Batch) -> Array:
    """(B, T, 1): the length of a row's |rstd·g| + |rstd·mean(g)| + |rstd·x̂·mean(g·x̂)|, which dx sums up.

    With two features x̂ is ±1, and of these terms eps/(var + eps) is left.
    """
    row = statistics(batch)
    g = batch.dy.astype(np.float64) * batch.gamma.astype(np.float64)
    along = (g * row.xhat).mean(axis=-1, keepdims=True)
    summed = np.abs(g) + np.abs(g.mean(axis=-1, keepdims=True)) + np.abs(row.xhat * along)
    return np.asarray(row.rstd * np.linalg.norm(summed, axis=-1, keepdims=True))


def plain(batch: Batch) -> tuple[Array, Gradients]:
    """The two-pass layer norm in the batch's own dtype: what sound code reaches."""
    x, gamma, dy = batch.x, batch.gamma, batch.dy
    dtype = x.dtype.type
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred * centred).mean(axis=-1, keepdims=True)
    rstd = dtype(1) / np.sqrt(var + dtype(batch.eps))
    xhat = centred * rstd
    g = dy * gamma
    along = (g * xhat).mean(axis=-1, keepdims=True)
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - xhat * along)
    return gamma * xhat + batch.beta, Gradients(dx, (dy * xhat).sum(axis=(0, 1)), dy.sum(axis=(0, 1)))
