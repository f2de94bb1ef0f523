# style: six points that fall steeply, then less, and rise once
# only: convergence
"""Ternary linear map with a straight-through estimator, as pure functions in `vjp` style.

    y, pullback = ternary_linear(w, b, x)      # w: latent, (out, in)
    dw, db, dx  = pullback(dy)

Every row of `w` is cut into groups of 128 consecutive inputs (the last may be shorter).  A group is replaced by
s * {-1, 0, +1} with s = mean|w| over the weights that the group really has.  The pullback treats the projection as
the identity for `w` and s as a constant; `dx` flows through the projected weights, as these were used forward.
"""
from typing import Callable, NamedTuple, Tuple

import numpy as np

GROUP_SIZE = 128


class Projection(NamedTuple):
    weight: np.ndarray   # (out, in), equals codes * (scale of the group)
    codes: np.ndarray    # (out, in) int8
    scales: np.ndarray   # (out, ceil(in / group))


def project(w: np.ndarray, group_size: int = GROUP_SIZE) -> Projection:
    """Group-wise absmean projection along the last axis."""
    n = w.shape[-1]
    starts = np.arange(0, n, group_size)
    counts = np.diff(np.append(starts, n))
    scales = np.add.reduceat(np.abs(w), starts, axis=-1) / counts
    s = np.repeat(scales, counts, axis=-1)
    ratio = np.divide(w, s, out=np.zeros_like(w), where=s > 0)
    codes = np.clip(np.rint(ratio), -1, 1)
    return Projection(codes * s, codes.astype(np.int8), scales)


def ternary_linear(w: np.ndarray, b: np.ndarray, x: np.ndarray,
                   group_size: int = GROUP_SIZE) -> Tuple[np.ndarray, Callable]:
    """y = x @ project(w).T + b for x of shape (..., in), and its straight-through pullback."""
    q = project(w, group_size).weight

    def pullback(dy: np.ndarray):
        rows = dy.reshape(-1, dy.shape[-1])
        return rows.T @ x.reshape(-1, x.shape[-1]), rows.sum(axis=0), dy @ q

    return x @ q.T + b, pullback
