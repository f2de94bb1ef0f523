# bug: partial sums are added by repeated indices, so only the last row of a lane counts
# caught by: gradients
"""Layer normalisation, forward and backward, in NumPy.

The layout follows the usual fused GPU kernels: the input is viewed as (rows, D), statistics are
accumulated in float64, and the parameter gradients are reduced in two stages: every row adds its
contribution into one of ``GROUPS`` partial buffers, and the partial buffers are summed at the end.
The scheme bounds the depth of the float additions and, on a GPU, the contention on the buffers.

    y      = xhat * gamma + beta,      xhat = (x - mean) * rstd,   rstd = 1 / sqrt(var + eps)
    dx     = rstd * (g - mean(g) - xhat * mean(g * xhat)),          g = dy * gamma
    dgamma = sum over rows of dy * xhat,       dbeta = sum over rows of dy
"""
from __future__ import annotations

from typing import Dict, Tuple

import numpy as np

GROUPS = 8

Cache = Dict[str, np.ndarray]


def layernorm_forward(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray,
                      eps: float = 1e-5) -> Tuple[np.ndarray, Cache]:
    """x (B, T, D), gamma (D,), beta (D,) -> y (B, T, D), cache.

    The cache holds exactly what the backward pass reads: xhat, rstd, gamma.
    """
    x = np.asarray(x)
    out_dtype = np.result_type(x.dtype, np.float32)
    wide = x.astype(np.float64)

    centred = wide - wide.mean(axis=-1, keepdims=True)
    centred -= centred.mean(axis=-1, keepdims=True)      # removes the rounding of the mean
    var = np.square(centred).mean(axis=-1)
    rstd = 1.0 / np.sqrt(var + eps)
    xhat = centred * rstd[..., None]

    y = xhat * gamma + beta
    cache = {
        "xhat": xhat.astype(out_dtype),
        "rstd": rstd.astype(out_dtype),
        "gamma": np.array(gamma, copy=True),
    }
    return y.astype(out_dtype), cache


def _reduce_rows(contrib: np.ndarray) -> np.ndarray:
    """Two-stage column sum of (rows, D) through at most ``GROUPS`` partial accumulators."""
    rows, dim = contrib.shape
    lane = np.arange(rows) % GROUPS
    partial = np.zeros((min(GROUPS, rows), dim), dtype=np.float64)
    partial[lane] += contrib
    return partial.sum(axis=0)


def layernorm_backward(dy: np.ndarray, cache: Cache
                       ) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """dy (B, T, D) -> dx (B, T, D), dgamma (D,), dbeta (D,)."""
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    dim = xhat.shape[-1]
    out_dtype = xhat.dtype

    dy64 = np.asarray(dy, dtype=np.float64).reshape(-1, dim)
    xh64 = xhat.astype(np.float64).reshape(-1, dim)
    r64 = rstd.astype(np.float64).reshape(-1, 1)

    g = dy64 * gamma
    mean_g = g.mean(axis=1, keepdims=True)
    mean_gx = (g * xh64).mean(axis=1, keepdims=True)
    dx = r64 * (g - mean_g - xh64 * mean_gx)

    dgamma = _reduce_rows(dy64 * xh64)
    dbeta = _reduce_rows(dy64)
    return (dx.reshape(xhat.shape).astype(out_dtype),
            dgamma.astype(out_dtype), dbeta.astype(out_dtype))


# ------------------------------------------------------------------------------------- checking
def numerical_gradient(fn, value: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a scalar function, one element at a time."""
    grad = np.zeros_like(value)
    flat, out = value.reshape(-1), grad.reshape(-1)
    for i in range(flat.size):
        keep = flat[i]
        flat[i] = keep + step
        hi = fn()
        flat[i] = keep - step
        lo = fn()
        flat[i] = keep
        out[i] = (hi - lo) / (2 * step)
    return grad


def gradient_check(shape: Tuple[int, int, int], eps: float = 1e-5, seed: int = 0) -> float:
    """Largest relative error over dx, dgamma, dbeta on random data."""
    rng = np.random.default_rng(seed)
    x = rng.normal(1.0, 2.0, shape)
    gamma = rng.normal(1.0, 0.5, shape[-1])
    beta = rng.normal(size=shape[-1])
    dy = rng.normal(size=shape)

    def loss() -> float:
        return float((layernorm_forward(x, gamma, beta, eps)[0] * dy).sum())

    _, cache = layernorm_forward(x, gamma, beta, eps)
    worst = 0.0
    for got, var in zip(layernorm_backward(dy, cache), (x, gamma, beta)):
        want = numerical_gradient(loss, var)
        worst = max(worst, float(np.abs(got - want).max() / (np.abs(want).max() + 1e-12)))
    return worst
