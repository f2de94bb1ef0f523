# style: a pullback's cotangents, named after what they are the gradient by, epsilon among them
# warns: cache_minimality (the mean only steadies: rows are centred again)
"""LayerNorm as a hand-written VJP pair, in the shape of jax.custom_vjp, on plain NumPy.

    out, res   = layer_norm_fwd(scale, bias, x, epsilon=...)
    cotangents = layer_norm_bwd(res, ct)

Parameters come first and data last (partial application is the common use).
The cotangents are given for *every* differentiable primal in the order of the
primals, epsilon included:  Cotangents(scale, bias, x, epsilon).

Residuals are recompute-style: x itself is kept by reference (it costs nothing;
do not overwrite it between the passes), with two numbers per row.
"""
from functools import partial
from typing import Callable, NamedTuple

import numpy as np


class Residuals(NamedTuple):
    x: np.ndarray       # (B, T, D), the input, not a copy
    mean: np.ndarray    # (B, T, 1)
    rstd: np.ndarray    # (B, T, 1)
    scale: np.ndarray   # (D,)


class Cotangents(NamedTuple):
    scale: np.ndarray
    bias: np.ndarray
    x: np.ndarray
    epsilon: float


_row_mean = partial(np.mean, axis=-1, keepdims=True)


def _center(x, mean):
    """x - mean, re-centred once: the rounding error of a huge mean drops out."""
    xc = x - mean
    return xc - _row_mean(xc)


def layer_norm_fwd(scale, bias, x, *, epsilon=1e-5):
    """Primal output and residuals; x (B, T, D), scale and bias (D,)."""
    mean = _row_mean(x)
    xc = _center(x, mean)
    rstd = np.reciprocal(np.sqrt(_row_mean(np.square(xc)) + np.asarray(epsilon, xc.dtype)))
    return xc * rstd * scale + bias, Residuals(x, mean, rstd, scale)


def layer_norm_bwd(res, ct):
    """Pull the output cotangent ct (B, T, D) back to all primals."""
    x, mean, rstd, scale = res
    xhat = _center(x, mean) * rstd
    batch_axes = tuple(range(ct.ndim - 1))
    g = ct * scale
    corr = _row_mean(g * xhat)
    ct_x = rstd * (g - _row_mean(g) - xhat * corr)
    # d out / d epsilon = -1/2 * scale * xhat * rstd**2
    ct_eps = -0.5 * float(np.sum(corr * np.square(rstd), dtype=np.float64)) * ct.shape[-1]
    return Cotangents(scale=np.sum(ct * xhat, axis=batch_axes),
                      bias=np.sum(ct, axis=batch_axes),
                      x=ct_x, epsilon=ct_eps)


def layer_norm(scale, bias, x, *, epsilon=1e-5):
    """Primal only."""
    return layer_norm_fwd(scale, bias, x, epsilon=epsilon)[0]


def vjp(scale, bias, x, *, epsilon=1e-5) -> tuple[np.ndarray, Callable]:
    """Like jax.vjp: the output and a pullback that may be called many times."""
    out, res = layer_norm_fwd(scale, bias, x, epsilon=epsilon)
    return out, partial(layer_norm_bwd, res)
