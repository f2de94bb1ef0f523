# bug: keeps gamma · x̂ and divides gamma out again, which nothing undoes where gamma is zero
# caught by: degenerate
# passes: forward_accuracy, cancellation, cache_minimality
"""
Memory-lean layer normalization (NumPy, manual gradients).

The usual implementation keeps x_hat, rstd and gamma.  Here we keep the *scaled*
activation instead,

        h = gamma * x_hat            (so that y = h + beta)

because two of the three reductions of the backward pass then need no extra
multiplication at all:  sum_j (dy*gamma)_j x_hat_j  ==  sum_j dy_j h_j.

Derivation, per row of D features, with g = dy * gamma:

    dbeta  = sum_rows dy
    dgamma = sum_rows dy * x_hat  =  (sum_rows dy * h) / gamma
    dx     = rstd * ( g - mean(g) - x_hat * mean(g * x_hat) )
           = rstd * ( g - mean(g) - h / gamma * mean(dy * h) )
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def layernorm_forward(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> tuple[Array, tuple]:
    """Normalize over the last axis.

    Args:
        x: (B, T, D) activations.
        gamma: (D,) scale.
        beta: (D,) shift.
        eps: added to the variance, inside the square root.

    Returns:
        y with the shape of x, and the cache (h, rstd, gamma).
    """
    mu = x.mean(axis=-1, keepdims=True)
    h = x - mu
    var = np.square(h).mean(axis=-1)
    rstd = 1.0 / np.sqrt(var + x.dtype.type(eps))
    h *= rstd[..., None]
    h *= gamma
    return h + beta, (h, rstd, gamma)


def _reciprocal_scale(gamma: Array) -> Array:
    """1 / gamma; a feature that is switched off (gamma == 0) transmits nothing."""
    live = gamma != 0
    return np.divide(1.0, gamma, out=np.zeros_like(gamma), where=live)


def layernorm_backward(dy: Array, cache: tuple) -> tuple[Array, Array, Array]:
    """Gradients of sum(y * dy) for x, gamma and beta, as (dx, dgamma, dbeta)."""
    h, rstd, gamma = cache
    depth = h.shape[-1]
    inv_gamma = _reciprocal_scale(gamma)

    dyh = dy * h
    flat = dyh.reshape(-1, depth)

    dbeta = dy.reshape(-1, depth).sum(axis=0)
    dgamma = flat.sum(axis=0) * inv_gamma

    g = dy * gamma
    proj = dyh.mean(axis=-1, keepdims=True)
    g_mean = g.mean(axis=-1, keepdims=True)
    dx = rstd[..., None] * (g - g_mean - (h * inv_gamma) * proj)
    return dx, dgamma, dbeta
