"""Timings of the layer-norm forward and backward pass, and a stability demo.

    python benchmark_layer_norm.py

CPU and NumPy only: every expression is a pass over memory of its own, so the
bandwidth column shows how far an unfused implementation is from the machine's
limit.  For the GPU see the fusion notes of layer_norm_backward.py.
"""

import time
from typing import Callable, List, Tuple

import numpy as np

from layer_norm_backward import (
    chain_rule_gradients,
    estimate_flops,
    layer_norm_backward,
    layer_norm_forward,
    make_inputs,
)

# (B, T, D), from a toy model to a GPT-2-sized layer.
CONFIGS: List[Tuple[int, int, int]] = [
    (1, 16, 64),
    (2, 32, 128),
    (4, 64, 256),
    (8, 64, 512),
    (2, 128, 1024),
    (8, 128, 768),
    (4, 256, 1024),
    (8, 256, 1024),
]

# Minimal traffic of backward per element: read dy and x_hat, write dx.
MINIMAL_ACCESSES = 3


# =============================================================================
# Timing
# =============================================================================

def time_call(f: Callable[[], object], repeats: int) -> float:
    """Best of `repeats` calls in seconds, after one warm-up call."""
    f()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return best


def choose_repeats(elements: int) -> int:
    """More repeats for small shapes, where the clock is the noise."""
    return int(np.clip(2_000_000 // elements, 3, 200))


def benchmark() -> None:
    print("Performance (float64, best of several runs)")
    print(f"{'(B, T, D)':<18}{'forward':>10}{'backward':>10}{'ratio':>7}"
          f"{'GFLOP/s':>9}{'GB/s':>7}{'cache MB':>10}")
    for B, T, D in CONFIGS:
        N = B * T * D
        x, gamma, beta, dy = make_inputs(B, T, D)
        _, cache = layer_norm_forward(x, gamma, beta)
        repeats = choose_repeats(N)

        forward = time_call(lambda: layer_norm_forward(x, gamma, beta), repeats)
        backward = time_call(lambda: layer_norm_backward(dy, cache), repeats)

        flops = estimate_flops(B, T, D)
        gflops = flops["backward"] / backward / 1e9
        bandwidth = MINIMAL_ACCESSES * 8 * N / backward / 1e9
        cache_mb = 8 * flops["cache_values"] / 1e6
        print(f"{str((B, T, D)):<18}{forward * 1e3:>8.3f}ms{backward * 1e3:>8.3f}ms"
              f"{backward / forward:>7.2f}{gflops:>9.2f}{bandwidth:>7.2f}"
              f"{cache_mb:>10.3f}")
    print("GFLOP/s and GB/s are of the backward pass; GB/s counts the minimal traffic.")


def benchmark_formulas(B: int = 4, T: int = 128, D: int = 768) -> None:
    """What the compact dx formula saves against the step-by-step chain rule."""
    x, gamma, beta, dy = make_inputs(B, T, D)
    _, cache = layer_norm_forward(x, gamma, beta)
    compact = time_call(lambda: layer_norm_backward(dy, cache), 5)
    stepwise = time_call(lambda: chain_rule_gradients(dy, x, gamma), 5)
    print(f"\nFormulas at {(B, T, D)}")
    print(f"  compact, from the cache    {compact * 1e3:8.3f} ms")
    print(f"  step-by-step, from x       {stepwise * 1e3:8.3f} ms"
          f"   ({stepwise / compact:.2f}x)")


# =============================================================================
# Numerical stability: two-pass against naive variance
# =============================================================================

def naive_variance(x: np.ndarray) -> float:
    """E[x^2] - E[x]^2: one pass, and a difference of two huge numbers."""
    return float(np.mean(x**2) - np.mean(x) ** 2)


def two_pass_variance(x: np.ndarray) -> float:
    """E[(x - E[x])^2]: what layer_norm_forward does."""
    return float(np.mean((x - np.mean(x)) ** 2))


def stability_demo() -> None:
    """The variance of [-2, -1, 0, 1, 2] is 2, wherever the row is shifted to.

    At offset 1e10 the squares are about 1e20, where neighbouring float64 values
    are 16384 apart: both means round to the same number and the difference is 0.
    The centered values are exact, so the two-pass result does not move.
    """
    base = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    print("\nNumerical stability: variance of offset + [-2, -1, 0, 1, 2], exactly 2")
    print(f"{'offset':>10}{'naive':>12}{'stable':>12}")
    for offset in (0.0, 1e2, 1e4, 1e6, 1e8, 1e10):
        x = base + offset
        print(f"{offset:>10.0e}{naive_variance(x):>12.3f}{two_pass_variance(x):>12.3f}")

    x = base + 1e10
    print(f"\noffset=1e10: naive={naive_variance(x):.3f}, "
          f"stable={two_pass_variance(x):.3f}")

    # With the naive variance rstd would be 1 / sqrt(eps) = 316 instead of 0.707.
    y, cache = layer_norm_forward(x.reshape(1, 1, 5), np.ones(5), np.zeros(5))
    print(f"layer_norm_forward there: std_inv={cache['std_inv'][0, 0]:.6f}, "
          f"y={np.round(y.ravel(), 3)}")

    # The same on random rows of width 512, whose true variance is near 1.
    rows = np.random.default_rng(3).normal(size=(64, 512))
    print("\nRandom rows (64, 512): worst relative error of the variance")
    for offset in (1e4, 1e6, 1e8):
        shifted = rows + offset
        exact = np.var(shifted - offset, axis=-1)
        naive = np.array([naive_variance(r) for r in shifted])
        stable = np.array([two_pass_variance(r) for r in shifted])
        print(f"{offset:>10.0e}{np.max(np.abs(naive / exact - 1)):>12.1e}"
              f"{np.max(np.abs(stable / exact - 1)):>12.1e}")


def main() -> None:
    benchmark()
    benchmark_formulas()
    stability_demo()


if __name__ == "__main__":
    main()
