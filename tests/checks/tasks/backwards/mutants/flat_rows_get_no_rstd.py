# bug: rows without spread get rstd = 0, so dx is 0 there
# caught by: degenerate
# passes: gradients, gradient_identities
"""Layer normalisation, forward and backward, derived step by step.

Notation for one token (one row of D features)

    mu   = (1/D) sum_j x_j                     mean
    v    = (1/D) sum_j (x_j - mu)^2            biased variance, two passes
    r    = 1 / sqrt(v + eps)                   reciprocal standard deviation
    n_j  = (x_j - mu) r                        normalised features
    y_j  = gamma_j n_j + beta_j

Backward.  Let u_j = dy_j gamma_j be the gradient that arrives at n_j.  Then

    d gamma_j = sum over tokens of dy_j n_j
    d beta_j  = sum over tokens of dy_j
    d x_j     = r ( u_j - mean(u) - n_j mean(u n) )

Geometrically the bracket removes from u its components along the all-ones vector and along n:
moving x in those two directions does not change y.  It has two costs per row: two means.

What is kept between the passes: n (B, T, D), r (B, T) and gamma (D,); nothing else is needed.
"""
import numpy as np


def row_statistics(x, eps):
    """Centred rows and the reciprocal standard deviation, (B, T, D) and (B, T, 1).

    A flat row (all features equal, e.g. a padding token) has no direction to normalise along;
    its centred features are set to exact zeros, free of the rounding error of the mean.
    """
    mu = np.mean(x, axis=-1, keepdims=True, dtype=np.float64)
    dev = x - mu
    var = np.mean(dev * dev, axis=-1, keepdims=True)
    flat = np.max(x, axis=-1, keepdims=True) == np.min(x, axis=-1, keepdims=True)
    inv = np.where(flat, 0.0, 1.0 / np.sqrt(var + eps))
    return np.where(flat, 0.0, dev), inv


def forward(x, gamma, beta, eps=1e-5):
    """Return (y, cache) for x (B, T, D), gamma (D,), beta (D,)."""
    dev, inv = row_statistics(x, eps)
    n = dev * inv
    y = (n * gamma + beta).astype(x.dtype)
    cache = {
        "normed": n.astype(x.dtype),
        "inv_std": inv[..., 0].astype(x.dtype),
        "gamma": np.array(gamma),
    }
    return y, cache


def backward(dy, cache):
    """Return (dx, dgamma, dbeta) for the upstream gradient dy (B, T, D)."""
    n = cache["normed"]
    r = cache["inv_std"][..., np.newaxis]
    u = dy * cache["gamma"]

    along_ones = np.mean(u, axis=-1, keepdims=True, dtype=np.float64)
    along_n = np.mean(u * n, axis=-1, keepdims=True, dtype=np.float64)
    dx = r * (u - along_ones - n * along_n)

    dgamma = np.sum(dy * n, axis=(0, 1), dtype=np.float64)
    dbeta = np.sum(dy, axis=(0, 1), dtype=np.float64)
    return dx.astype(n.dtype), dgamma.astype(n.dtype), dbeta.astype(n.dtype)
