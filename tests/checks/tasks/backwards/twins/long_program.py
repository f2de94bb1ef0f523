# style: a long file with its derivation, tests, gradient check and benchmark; in-place arithmetic, a named tuple
"""
Layer Normalization from scratch (NumPy only)
=============================================

This module implements the forward and the backward pass of layer normalization

    y = gamma * (x - mu) / sqrt(var + eps) + beta

for activations of shape (B, T, D), where the statistics are taken over the last axis.

Derivation
----------
Let  xhat = (x - mu) * rstd  and  g = dy * gamma.  Then

    dbeta  = sum_{b,t} dy
    dgamma = sum_{b,t} dy * xhat
    dx     = rstd * (g - mean(g) - xhat * mean(g * xhat))

The last line needs only two row reductions, so that nothing of size (D, D) is ever built.

What is cached
--------------
``xhat`` and ``rstd`` and ``gamma``. ``x``, ``mu`` and ``var`` are *not* needed: everything
that the backward pass reads from them is already contained in ``xhat`` and ``rstd``.

Numerical stability
-------------------
The variance is computed in two passes (mean first, then the mean of squared deviations).  The
"one pass" formula E[x^2] - E[x]^2 cancels catastrophically when |mean| >> std.

Usage
-----
    python layer_norm.py            # runs the tests, the gradient check and a micro benchmark
"""
from __future__ import annotations

import time
from typing import NamedTuple, Tuple

import numpy as np

__all__ = ["LayerNormCache", "layernorm_forward", "layernorm_backward", "gradient_check"]

Array = np.ndarray


class LayerNormCache(NamedTuple):
    """Everything that the backward pass reads, and nothing else."""

    xhat: Array  # (B, T, D) normalized input
    rstd: Array  # (B, T, 1) reciprocal standard deviation
    gamma: Array  # (D,)     a reference, not a copy


def _validate(x: Array, gamma: Array, beta: Array, eps: float) -> None:
    if x.ndim != 3:
        raise ValueError(f"expected x of shape (B, T, D), got {x.shape}")
    d = x.shape[-1]
    if gamma.shape != (d,) or beta.shape != (d,):
        raise ValueError(f"gamma and beta must be of shape ({d},), got {gamma.shape} and {beta.shape}")
    if not eps >= 0:
        raise ValueError(f"eps must be non-negative, got {eps}")


def layernorm_forward(
    x: Array, gamma: Array, beta: Array, eps: float = 1e-5
) -> Tuple[Array, LayerNormCache]:
    """Forward pass.

    Parameters
    ----------
    x : (B, T, D)
    gamma, beta : (D,)
    eps : float

    Returns
    -------
    y : (B, T, D)
    cache : LayerNormCache
    """
    _validate(x, gamma, beta, eps)
    d = x.shape[-1]
    centered = x - x.mean(axis=-1, keepdims=True)
    # einsum squares and sums without an (B, T, D) temporary
    var = np.einsum("btd,btd->bt", centered, centered)[..., None] / d
    rstd = 1.0 / np.sqrt(var + eps)
    centered *= rstd  # in place: centered is ours
    y = centered * gamma
    y += beta
    return y, LayerNormCache(centered, rstd, gamma)


def layernorm_backward(dy: Array, cache: LayerNormCache) -> Tuple[Array, Array, Array]:
    """Backward pass.  Returns (dx, dgamma, dbeta)."""
    xhat, rstd, gamma = cache
    if dy.shape != xhat.shape:
        raise ValueError(f"dy has shape {dy.shape}, expected {xhat.shape}")
    d = xhat.shape[-1]
    flat_dy = dy.reshape(-1, d)
    flat_xhat = xhat.reshape(-1, d)

    dbeta = flat_dy.sum(axis=0)
    dgamma = np.einsum("nd,nd->d", flat_dy, flat_xhat)

    g = dy * gamma
    row_mean = g.mean(axis=-1, keepdims=True)
    row_proj = np.einsum("btd,btd->bt", g, xhat)[..., None] / d
    g -= row_mean
    g -= xhat * row_proj
    g *= rstd
    return g, dgamma, dbeta


# ---------------------------------------------------------------------------
# Gradient check
# ---------------------------------------------------------------------------
def _central_difference(f, a: Array, index, h: float) -> float:
    keep = a[index]
    a[index] = keep + h
    up = f()
    a[index] = keep - h
    down = f()
    a[index] = keep
    return (up - down) / (2.0 * h)


def gradient_check(
    shape=(2, 3, 8), eps: float = 1e-5, h: float = 1e-5, seed: int = 0, samples: int | None = None
) -> dict:
    """Compare the analytic gradients with central differences; returns max relative errors."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    gamma = rng.standard_normal(shape[-1])
    beta = rng.standard_normal(shape[-1])
    dy = rng.standard_normal(shape)

    def loss() -> float:
        return float(np.sum(layernorm_forward(x, gamma, beta, eps)[0] * dy))

    _, cache = layernorm_forward(x, gamma, beta, eps)
    analytic = layernorm_backward(dy, cache)
    errors = {}
    for name, array, grad in zip(("dx", "dgamma", "dbeta"), (x, gamma, beta), analytic):
        indices = list(np.ndindex(array.shape))
        if samples is not None and samples < len(indices):
            indices = [indices[i] for i in rng.choice(len(indices), samples, replace=False)]
        worst = 0.0
        for index in indices:
            numeric = _central_difference(loss, array, index, h)
            worst = max(worst, abs(numeric - grad[index]) / max(1e-8, abs(numeric) + abs(grad[index])))
        errors[name] = worst
    return errors


# ---------------------------------------------------------------------------
# Tests
# ---------------------------------------------------------------------------
def test_normalized_rows():
    rng = np.random.default_rng(1)
    x = rng.normal(3.0, 7.0, (4, 5, 64))
    y, _ = layernorm_forward(x, np.ones(64), np.zeros(64))
    assert np.allclose(y.mean(-1), 0, atol=1e-12)
    assert np.allclose(y.var(-1), 1, atol=1e-5)


def test_gradients_match_finite_differences():
    for name, error in gradient_check().items():
        assert error < 1e-6, (name, error)


def test_large_offset_is_stable():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 4, 256))
    y0, _ = layernorm_forward(x, np.ones(256), np.zeros(256))
    y1, _ = layernorm_forward(x + 1e8, np.ones(256), np.zeros(256))
    assert np.abs(y0 - y1).max() < 1e-6


def test_constant_rows_are_finite():
    y, cache = layernorm_forward(np.full((1, 2, 16), 5.0), np.ones(16), np.zeros(16))
    grads = layernorm_backward(np.ones((1, 2, 16)), cache)
    assert np.isfinite(y).all() and all(np.isfinite(g).all() for g in grads)


def _run_tests() -> None:
    for name, test in sorted(globals().items()):
        if name.startswith("test_") and callable(test):
            test()
            print(f"  PASS {name}")


def _benchmark(shapes=((8, 128, 512), (2, 512, 1024)), repeats: int = 5) -> None:
    rng = np.random.default_rng(0)
    for b, t, d in shapes:
        x = rng.standard_normal((b, t, d))
        gamma, beta, dy = rng.standard_normal(d), rng.standard_normal(d), rng.standard_normal((b, t, d))
        best_f = best_b = float("inf")
        for _ in range(repeats):
            start = time.perf_counter()
            _, cache = layernorm_forward(x, gamma, beta)
            middle = time.perf_counter()
            layernorm_backward(dy, cache)
            end = time.perf_counter()
            best_f, best_b = min(best_f, middle - start), min(best_b, end - middle)
        print(f"  ({b:3d},{t:4d},{d:5d})  forward {best_f * 1e3:7.2f} ms   backward {best_b * 1e3:7.2f} ms")


if __name__ == "__main__":
    print("tests")
    _run_tests()
    print("gradient check")
    for key, value in gradient_check().items():
        print(f"  {key:7s} {value:.2e}")
    print("benchmark")
    _benchmark()
