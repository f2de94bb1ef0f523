# bug: parameter gradients are summed over whole blocks of 32 rows alone, the rest is left out
# caught by: gradients
# passes: forward_accuracy, gradient_identities, cache_minimality
#!/usr/bin/env python3
"""Layer norm with a fused, cache-blocked backward pass.

The parameter gradients are accumulated over blocks of rows (as a GPU kernel would do it with one partial sum per thread block) so
that the working set stays in L2.
"""
import argparse
import time

import numpy as np

ROWS_PER_BLOCK = 32


def layer_norm_fwd(x, gamma, beta, eps=1e-5):
    """x: (B, T, D) -> y: (B, T, D), cache"""
    mean = x.mean(axis=-1, keepdims=True)
    xc = x - mean
    var = (xc ** 2).mean(axis=-1, keepdims=True)
    rstd = (var + eps) ** -0.5
    xhat = xc * rstd
    return xhat * gamma + beta, {"xhat": xhat, "rstd": rstd, "gamma": gamma}


def _partial_sums(dy, xhat):
    """Block-wise partial sums of dy and dy*xhat, then one reduction over the blocks."""
    rows, d = dy.shape
    if rows <= ROWS_PER_BLOCK:
        return (dy * xhat).sum(0), dy.sum(0)
    blocks = rows // ROWS_PER_BLOCK
    pg = np.zeros((blocks, d), dtype=dy.dtype)
    pb = np.zeros((blocks, d), dtype=dy.dtype)
    for i in range(blocks):
        s = slice(i * ROWS_PER_BLOCK, (i + 1) * ROWS_PER_BLOCK)
        np.sum(dy[s] * xhat[s], axis=0, out=pg[i])
        np.sum(dy[s], axis=0, out=pb[i])
    return pg.sum(0), pb.sum(0)


def layer_norm_bwd(dy, cache):
    """dy: (B, T, D) -> dx (B, T, D), dgamma (D,), dbeta (D,)"""
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    d = xhat.shape[-1]
    dgamma, dbeta = _partial_sums(dy.reshape(-1, d), xhat.reshape(-1, d))
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, dgamma, dbeta


def numeric_grad(f, a, h=1e-5):
    out = np.zeros_like(a)
    it = np.nditer(a, flags=["multi_index"])
    while not it.finished:
        i = it.multi_index
        old = a[i]
        a[i] = old + h
        p = f()
        a[i] = old - h
        m = f()
        a[i] = old
        out[i] = (p - m) / (2 * h)
        it.iternext()
    return out


def self_test():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 4, 6))
    g, b = rng.normal(size=6), rng.normal(size=6)
    dy = rng.normal(size=x.shape)
    f = lambda: (layer_norm_fwd(x, g, b)[0] * dy).sum()
    y, cache = layer_norm_fwd(x, g, b)
    for name, a, got in zip(("x", "gamma", "beta"), (x, g, b), layer_norm_bwd(dy, cache)):
        want = numeric_grad(f, a)
        rel = np.abs(want - got).max() / np.abs(want).max()
        print(f"d{name}: rel err {rel:.2e}")
        assert rel < 1e-6
    print("all gradients OK")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bench", action="store_true")
    args = p.parse_args()
    self_test()
    if args.bench:
        x = np.random.randn(8, 512, 768)
        t = time.time()
        y, c = layer_norm_fwd(x, np.ones(768), np.zeros(768))
        layer_norm_bwd(y, c)
        print(f"{time.time() - t:.3f} s")


if __name__ == "__main__":
    main()
