"""
Layer normalization with a hand-written backward pass (NumPy only).

This module holds the core: forward, backward, the gradient check, an
independent derivation used as a cross-check, and the GPU fusion notes.
Edge cases live in test_layer_norm.py, timings in benchmark_layer_norm.py.

Forward, per position (b, t), reducing over the D features:

    mean  = sum(x) / D
    var   = sum((x - mean)^2) / D
    x_hat = (x - mean) / sqrt(var + eps)
    y     = gamma * x_hat + beta

Backward (derivation sketch), with g = gamma * dy:

    dgamma = sum over (B, T) of dy * x_hat
    dbeta  = sum over (B, T) of dy

    x_hat_i depends on x_j directly, through the mean, and through the variance:

        d x_hat_i / d x_j = std_inv * (delta_ij - 1/D - x_hat_i * x_hat_j / D)

    Multiplying by g_i and summing over i collapses this to

        dx = std_inv * [g - mean(g) - x_hat * mean(g * x_hat)]

    where mean() runs over the feature axis.  The two subtracted terms are the
    projections of g onto the constant vector and onto x_hat.
"""

from typing import Any, Callable, Dict, Tuple

import numpy as np


# =============================================================================
# Forward
# =============================================================================

def layer_norm_forward(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-5
) -> Tuple[np.ndarray, Dict[str, Any]]:
    """Layer normalization over the last axis.

    Args:
        x: Input, shape (B, T, D).
        gamma: Scale, shape (D,).
        beta: Shift, shape (D,).
        eps: Constant added to the variance.

    Returns:
        y of shape (B, T, D), and the cache for the backward pass:
            x_hat   (B, T, D)  normalized input
            std_inv (B, T)     1 / sqrt(var + eps)
            gamma   (D,)       scale
            D       scalar     number of features

    Not cached, because backward does not need them: x, mean and var (x_hat and
    std_inv carry their information) and beta (it only shifts y).
    """
    D = x.shape[-1]
    assert gamma.shape == (D,), f"gamma must have shape ({D},), got {gamma.shape}"
    assert beta.shape == (D,), f"beta must have shape ({D},), got {beta.shape}"

    # Two-pass statistics: the mean first, then the centered squares.
    mean = np.sum(x, axis=-1, keepdims=True) / D
    centered = x - mean
    var = np.sum(centered * centered, axis=-1) / D

    std_inv = 1.0 / np.sqrt(var + eps)
    x_hat = centered * std_inv[..., None]
    y = gamma * x_hat + beta

    return y, {"x_hat": x_hat, "std_inv": std_inv, "gamma": gamma, "D": D}


# =============================================================================
# Backward
# =============================================================================

def layer_norm_backward(
    dy: np.ndarray, cache: Dict[str, Any]
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of layer_norm_forward.

        dx = std_inv * [g - mean(g) - x_hat * mean(g * x_hat)],  g = gamma * dy

    Args:
        dy: Upstream gradient, shape (B, T, D).
        cache: Cache returned by layer_norm_forward.

    Returns:
        dx (B, T, D), dgamma (D,), dbeta (D,).
    """
    x_hat, std_inv = cache["x_hat"], cache["std_inv"]
    gamma, D = cache["gamma"], cache["D"]
    assert dy.shape == x_hat.shape, f"dy {dy.shape} does not match x {x_hat.shape}"

    # Parameters: reduce over batch and time.
    dgamma = np.sum(dy * x_hat, axis=(0, 1))
    dbeta = np.sum(dy, axis=(0, 1))

    # Input: two means over the features.
    g = gamma * dy
    mean_g = np.sum(g, axis=-1, keepdims=True) / D
    mean_gx = np.sum(g * x_hat, axis=-1, keepdims=True) / D
    dx = std_inv[..., None] * (g - mean_g - x_hat * mean_gx)

    return dx, dgamma, dbeta


# =============================================================================
# Cross-check: the same gradients, one chain-rule step at a time
# =============================================================================

def chain_rule_gradients(
    dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, eps: float = 1e-5
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Alternative derivation: walk the graph through x_hat, var and mean.

    It starts from x itself and shares no algebra and no cached value with
    layer_norm_backward, so that an error in the compact formula cannot hide.
    """
    D = x.shape[-1]
    mean = x.mean(axis=-1, keepdims=True)
    centered = x - mean
    var = np.mean(centered**2, axis=-1, keepdims=True)
    std = np.sqrt(var + eps)

    dx_hat = dy * gamma
    # x_hat = centered / std
    dvar = np.sum(dx_hat * centered, axis=-1, keepdims=True) * (-0.5) * std**-3
    dmean = (-np.sum(dx_hat / std, axis=-1, keepdims=True)
             + dvar * (-2.0 / D) * np.sum(centered, axis=-1, keepdims=True))
    # x reaches the loss by three paths: directly, by var, and by mean.
    dx = dx_hat / std + dvar * 2.0 * centered / D + dmean / D

    dgamma = np.einsum("btd,btd->d", dy, centered / std)
    dbeta = np.einsum("btd->d", dy)
    return dx, dgamma, dbeta


def cross_check(B: int = 4, T: int = 8, D: int = 32, seed: int = 1) -> bool:
    """Compare the compact formula with the step-by-step one (limit 1e-10)."""
    x, gamma, beta, dy = make_inputs(B, T, D, seed)
    _, cache = layer_norm_forward(x, gamma, beta)
    compact = layer_norm_backward(dy, cache)
    stepwise = chain_rule_gradients(dy, x, gamma)

    ok = True
    for name, a, b in zip(("dx", "dgamma", "dbeta"), compact, stepwise):
        diff = np.max(np.abs(a - b))
        ok &= bool(diff < 1e-10)
        print(f"{name:<9} max difference: {diff:.2e}  {mark(diff < 1e-10)}")
    return ok


# =============================================================================
# Gradient check by central differences
# =============================================================================

def make_inputs(B: int, T: int, D: int, seed: int = 0) -> Tuple[np.ndarray, ...]:
    """Random x, gamma, beta and dy in float64."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0.0, 1.0, (B, T, D))
    gamma = rng.normal(1.0, 0.3, D)
    beta = rng.normal(0.0, 0.3, D)
    dy = rng.normal(0.0, 1.0, (B, T, D))
    return x, gamma, beta, dy


def numerical_gradient(
    f: Callable[[], float], param: np.ndarray, h: float = 1e-5
) -> np.ndarray:
    """Central differences of f with respect to every element of param.

    f reads param, which is perturbed in place and restored.  Costs two
    evaluations of f per element.
    """
    grad = np.zeros_like(param)
    it = np.nditer(param, flags=["multi_index"])
    while not it.finished:
        idx = it.multi_index
        old = param[idx]
        param[idx] = old + h
        plus = f()
        param[idx] = old - h
        minus = f()
        param[idx] = old
        grad[idx] = (plus - minus) / (2.0 * h)
        it.iternext()
    return grad


def relative_error(a: np.ndarray, b: np.ndarray) -> float:
    """|a - b| / (|a| + |b|) in the 2-norm."""
    return float(np.linalg.norm(a - b) / (np.linalg.norm(a) + np.linalg.norm(b) + 1e-12))


def gradient_check(B: int = 4, T: int = 8, D: int = 16, seed: int = 0,
                   tol: float = 1e-7) -> bool:
    """Analytic against numerical gradients, all elements of x, gamma, beta."""
    x, gamma, beta, dy = make_inputs(B, T, D, seed)
    _, cache = layer_norm_forward(x, gamma, beta)
    analytic = layer_norm_backward(dy, cache)

    def loss() -> float:
        return float(np.sum(layer_norm_forward(x, gamma, beta)[0] * dy))

    ok = True
    for name, a, p in zip(("dx", "dgamma", "dbeta"), analytic, (x, gamma, beta)):
        err = relative_error(a, numerical_gradient(loss, p))
        ok &= err < tol
        print(f"{name:<9} relative error: {err:.2e}  {mark(err < tol)}")
    return ok


def mark(passed: bool) -> str:
    return "✓ PASS" if passed else "✗ FAIL"


# =============================================================================
# Complexity, N = B * T * D
# =============================================================================
#
#   forward   ~7N flops    sum N, center N, square + sum 2N, scale N, affine 2N
#   backward  ~11N flops   dgamma 2N, dbeta N, g N, mean(g) N, mean(g*x_hat) 2N,
#                          combination 4N, plus the row terms
#   cache     N + B*T + D values, plus one integer
#   both      O(N) time, O(N) memory; about one flop per value moved, so
#             bandwidth-bound on every current CPU and GPU

def estimate_flops(B: int, T: int, D: int) -> Dict[str, int]:
    N = B * T * D
    return {"forward": 7 * N, "backward": 11 * N, "cache_values": N + B * T + D}


GPU_FUSION = r"""
Forward kernel (one block per row):

    row = blockIdx.x
    s = 0;  for j in my columns:  r[j] = x[row, j];  s += r[j]     # 1 global read
    mean = block_sum(s) / D
    q = 0;  for j in my columns:  c = r[j] - mean;   q += c * c    # registers only
    std_inv = rsqrtf(block_sum(q) / D + eps)                       # hardware rsqrt
    for j in my columns:
        h = (r[j] - mean) * std_inv
        x_hat[row, j] = h;  y[row, j] = gamma[j] * h + beta[j]     # 2 global writes

Backward kernel (one block walks rows row, row + gridDim.x, ...):

    for j in my columns:                                           # sweep 1
        h = s_xhat[j] = x_hat[row, j];  d = dy[row, j]             # 2 global reads
        g = gamma[j] * d;  a += g;  b += g * h
        dgamma_reg[j] += d * h;  dbeta_reg[j] += d
    m1 = block_sum(a) / D;  m2 = block_sum(b) / D
    for j in my columns:                                           # sweep 2
        g = gamma[j] * dy[row, j]                                  # 1 global read
        dx[row, j] = std_inv[row] * (g - m1 - s_xhat[j] * m2)      # 1 global write

    dgamma_reg, dbeta_reg -> (gridDim.x, D) partials -> one small column-sum kernel

Global memory accesses per element, backward:

    step                     unfused              fused
    g = gamma * dy           read dy, write g      2   sweep 1: read x_hat, dy  2
    mean(g)                  read g                1   -
    p = g * x_hat            read g, x_hat, write  3   -
    mean(p)                  read p                1   -
    dx                       read g, x_hat, write  3   sweep 2: read dy,        2
    dgamma, dbeta            read dy, x_hat        2            write dx
    total                                         12                            4

Shared memory: x_hat of the row (4D bytes in float32) and one float per warp for
each block_sum.  Columns are assigned with stride blockDim.x, so that global
access is coalesced and every warp touches 32 different banks.  Up to D = 8192
or so dy fits as well (8D bytes), and the second read of dy goes away: 3 accesses.

Hardware rsqrt: rsqrtf() is a single special-function instruction (2 ulp) where
1 / sqrtf() is a root and a division.  Keep the sums in float32 for half inputs.
"""


if __name__ == "__main__":
    print("Gradient check (central differences):")
    passed = gradient_check()
    print("\nCross-check (step-by-step chain rule):")
    passed &= cross_check()
    flops = estimate_flops(2, 128, 1024)
    print(f"\nFlops at (2, 128, 1024): forward {flops['forward']:,}, "
          f"backward {flops['backward']:,}")
    print(GPU_FUSION)
    raise SystemExit(0 if passed else 1)
