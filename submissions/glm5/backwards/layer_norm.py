"""
Layer normalization in NumPy: forward and backward pass.

    x : (B, T, D)    gamma, beta : (D,)    y : (B, T, D)

Forward, for every row r = (b, t) on its own:

    mu    = (1/D) sum_j x_j
    var   = (1/D) sum_j (x_j - mu)^2
    rstd  = 1 / sqrt(var + eps)
    xhat  = (x - mu) * rstd
    y     = gamma * xhat + beta

Backward, given dy = dL/dy
--------------------------

1. Parameters.  y_j = gamma_j * xhat_j + beta_j, and gamma and beta are shared
   by all rows, so their gradients are sums over the rows:

       dgamma_j = sum_{b,t} dy_j * xhat_j
       dbeta_j  = sum_{b,t} dy_j

2. Into the normalized row:

       dxhat_j = dy_j * gamma_j

3. From xhat to x.  With c_j = x_j - mu we have xhat_j = c_j * rstd, so

       d xhat_i / d x_j = rstd * (delta_ij - 1/D) + c_i * d rstd / d x_j

   The derivative of rstd goes through the variance only:

       d var / d x_j  = (2/D) * c_j            (the term through mu vanishes,
                                                because sum_i c_i = 0)
       d rstd / d x_j = -1/2 (var + eps)^(-3/2) * (2/D) * c_j
                      = -rstd^3 * c_j / D
                      = -rstd^2 * xhat_j / D

   and with c_i = xhat_i / rstd

       d xhat_i / d x_j = rstd * (delta_ij - 1/D - xhat_i * xhat_j / D)

4. Contract with dxhat over i:

       dx_j = rstd * ( dxhat_j
                       - (1/D) sum_i dxhat_i
                       - xhat_j * (1/D) sum_i dxhat_i * xhat_i )

   Writing  dxhat_sum = sum_i dxhat_i  and  proj = sum_i dxhat_i * xhat_i :

       dx = rstd * (dxhat - xhat * proj / D - dxhat_sum / D)

   Read geometrically, dxhat loses its component along the constant vector
   and (up to eps) the one along xhat.  Two reductions per row are enough.

What has to be cached
---------------------
The last formula contains xhat, rstd and gamma.  Neither x nor mu nor var
appears, so the cache is exactly (xhat, rstd, gamma): one full-size tensor,
one scalar per row, and one vector.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Cache = tuple[Array, Array, Array]


# ---------------------------------------------------------------------------
# Forward
# ---------------------------------------------------------------------------

def layer_norm_forward(
    x: Array, gamma: Array, beta: Array, eps: float = 1e-5
) -> tuple[Array, Cache]:
    """Normalize the last axis of x.

    Args:
        x:     (B, T, D) input.
        gamma: (D,) scale.
        beta:  (D,) shift.
        eps:   added to the variance, inside the square root.

    Returns:
        y (B, T, D) and the cache (xhat (B, T, D), rstd (B, T, 1), gamma (D,)).
    """
    D = x.shape[-1]
    assert gamma.shape == (D,) and beta.shape == (D,), "gamma and beta must be (D,)"

    # Two passes: center first, then square.  Never E[x^2] - E[x]^2.
    mu = x.mean(axis=-1, keepdims=True)
    xc = x - mu
    var = np.mean(xc * xc, axis=-1, keepdims=True)

    rstd = 1.0 / np.sqrt(var + eps)
    xhat = xc * rstd
    y = gamma * xhat + beta
    return y, (xhat, rstd, gamma)


# ---------------------------------------------------------------------------
# Backward
# ---------------------------------------------------------------------------

def layer_norm_backward(dy: Array, cache: Cache) -> tuple[Array, Array, Array]:
    """Gradients of layer_norm_forward.

    Args:
        dy:    (B, T, D) gradient of the loss with respect to y.
        cache: (xhat, rstd, gamma) from the forward pass.

    Returns:
        dx (B, T, D), dgamma (D,), dbeta (D,).
    """
    xhat, rstd, gamma = cache
    assert dy.shape == xhat.shape, "dy must have the shape of the forward input"
    D = dy.shape[-1]
    rows = tuple(range(dy.ndim - 1))          # all axes but the last

    # Parameter gradients: reduce over the rows.
    dgamma = np.sum(dy * xhat, axis=rows)
    dbeta = np.sum(dy, axis=rows)

    # Input gradient: two reductions over the features, then one combination.
    dxhat = dy * gamma
    dxhat_sum = dxhat.sum(axis=-1, keepdims=True)
    proj = np.sum(dxhat * xhat, axis=-1, keepdims=True)
    dx = rstd * (dxhat - xhat * proj / D - dxhat_sum / D)
    return dx, dgamma, dbeta


# ---------------------------------------------------------------------------
# Gradient check
# ---------------------------------------------------------------------------

def numerical_gradients(
    x: Array, gamma: Array, beta: Array, dy: Array, eps: float = 1e-5, h: float = 1e-5
) -> tuple[Array, Array, Array]:
    """Central differences of L = sum(y * dy), one element at a time.

    Every evaluation perturbs a fresh copy, so that the caller's arrays are
    never written to, not even temporarily.
    """
    inputs = {"x": x, "gamma": gamma, "beta": beta}

    def loss(name: str, index: tuple[int, ...], delta: float) -> float:
        args = {key: value.copy() for key, value in inputs.items()}
        args[name][index] += delta
        y, _ = layer_norm_forward(**args, eps=eps)
        return float(np.sum(y * dy))

    grads = []
    for name, value in inputs.items():
        grad = np.zeros_like(value)
        for index in np.ndindex(*value.shape):
            grad[index] = (loss(name, index, h) - loss(name, index, -h)) / (2.0 * h)
        grads.append(grad)
    return grads[0], grads[1], grads[2]


def gradient_check(
    B: int = 4, T: int = 6, D: int = 16, seed: int = 42, tol: float = 1e-6
) -> bool:
    """Compare the analytic with the numerical gradients and print the errors.

    rel divides the largest difference by the largest analytic magnitude.
    """
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((B, T, D))
    gamma = rng.uniform(0.5, 1.5, size=D)
    beta = rng.standard_normal(D)
    dy = rng.standard_normal((B, T, D))

    _, cache = layer_norm_forward(x, gamma, beta)
    analytic = layer_norm_backward(dy, cache)
    numeric = numerical_gradients(x, gamma, beta, dy)

    ok = True
    for name, a, n in zip(("dx", "dgamma", "dbeta"), analytic, numeric):
        err = float(np.max(np.abs(a - n)))
        rel = err / max(float(np.max(np.abs(a))), 1e-12)
        passed = rel < tol
        ok = ok and passed
        print(f"{name}:  max|err| = {err:.2e}   rel = {rel:.2e}   "
              f"[{'PASS' if passed else 'FAIL'}]")
    return ok


# ---------------------------------------------------------------------------
# Complexity
# ---------------------------------------------------------------------------
#
# Time.  The forward pass does a constant number of operations per element:
# one add for the mean, a subtract, a square and an add for the variance, a
# multiply for xhat and a multiply-add for y, about 7 in all, plus one square
# root and one division per row.  The backward pass needs one multiply for
# dxhat, one add for its sum, a multiply-add for the projection, about five
# operations for the combination, and three for the two parameter gradients,
# about 12 in all.  Both passes are therefore O(B*T*D), and backward costs
# less than twice the forward.
#
# Memory.  The cache holds B*T*D values for xhat, B*T for rstd and a reference
# to gamma.  Keeping x with mu and rstd instead would be the same size to
# within B*T values, but backward would then have to recompute xhat; keeping
# both x and xhat would double the cache for nothing.  The temporaries of the
# NumPy backward (dxhat, dy * xhat, dxhat * xhat and the combination) are each
# B*T*D and live only inside the call; a fused kernel has none of them.
#
# At some four operations per value moved, both passes are limited by memory
# bandwidth on any current machine, not by math.


# ---------------------------------------------------------------------------
# Numerical stability: where it goes wrong, and what is done about it
# ---------------------------------------------------------------------------
#
# 1. Catastrophic cancellation in the variance.  E[x^2] - E[x]^2 subtracts two
#    numbers of size mu^2; once mu^2 / var passes 1 / machine-eps nothing is
#    left, and the result can even be negative, which makes rstd NaN.
#    -> Center first, then square; the sum then has no negative term.
#
# 2. Vanishing variance.  A constant row has var = 0 and 1 / sqrt(0) = inf.
#    -> eps sits inside the root, so rstd <= 1 / sqrt(eps); xhat is 0 there
#       and dx stays finite, although scaled by up to 316 for eps = 1e-5.
#
# 3. Overflow and underflow of squares in half precision.  In float16 a
#    centered value of 256 squares to inf, and one below 1.7e-4 squares to 0;
#    eps = 1e-8 itself underflows to 0.
#    -> Accumulate the statistics in float32 and only store in float16.
#
# 4. Cancellation in dx.  The bracket subtracts two projections from dxhat.
#    If dxhat lies close to the span of (1, xhat), the result is small and its
#    relative error is large, and rstd amplifies it when var is tiny.
#    -> Use xhat as cached (not x - mu again), keep the sums in at least
#       float32, and apply rstd once, at the end, to the small difference.
#
# 5. Long reductions for dgamma and dbeta.  B*T terms are added per feature; a
#    running float32 sum loses about log10(B*T) digits in the worst case.
#    -> Sum pairwise or in two stages (per block, then over blocks).  Atomic
#       adds in any order cost accuracy and make the result irreproducible.


# ---------------------------------------------------------------------------
# GPU: one fused backward kernel
# ---------------------------------------------------------------------------
#
# One block per row at a time, its D values spread over the threads with stride
# blockDim.x, so that neighbouring threads read neighbouring addresses.
#
# Shared memory of a block (float32):
#
#     [ 0        .. D-1      ]  s_dxhat   dy * gamma of this row
#     [ D        .. 2D-1     ]  s_xhat    xhat of this row
#     [ 2D       .. 2D+W-1   ]  s_sum     one partial of dxhat_sum per warp
#     [ 2D+W     .. 2D+2W-1  ]  s_proj    one partial of proj per warp
#
# with W = blockDim.x / 32: 8 KB + 64 bytes at D = 1024 and 256 threads.
#
#   Step 1  Load.     Read dy and xhat once, form dxhat = dy * gamma, keep both
#                     in shared memory; each thread sums its dxhat and dxhat*xhat.
#   Step 2  Reduce.   Warp shuffles, then the W partials through s_sum, s_proj;
#                     dxhat_sum and proj come back by broadcast.  One barrier
#                     before, one after.
#   Step 3  Combine.  dx = rstd * (dxhat - xhat * proj/D - dxhat_sum/D) out of
#                     shared memory, written once, coalesced.
#   Step 4  Params.   Each block walks several rows and keeps its dgamma, dbeta
#                     in registers; partials go to a (blocks, D) buffer, and a
#                     second, small kernel adds them over the blocks.
#
# Traffic per row: read dy, read xhat, write dx (rstd is one value, gamma
# stays in L2), so ≈3D.  Unfused, one kernel per expression: dxhat (2D with its
# write), two reductions (3D), the combination (3D and more), the parameter
# gradients (3D), so ≈10D+.  At equal bandwidth this is a factor of 3 to 4.
## The forward pass fuses the same way: one load and two reductions.


if __name__ == "__main__":
    print("Layer norm backward: analytic against central differences")
    raise SystemExit(0 if gradient_check() else 1)
