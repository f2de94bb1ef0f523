"""y as one multiply-add per element; the statistics by NumPy's own functions; keyword-only eps."""
import numpy as np


def ln_forward(x, scale, shift, *, epsilon=1e-5):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    a = scale / np.sqrt(var + epsilon)
    return x * a + (shift - mean * a), dict(x=x, mean=mean, var=var, eps=epsilon, scale=scale)


def ln_backward(upstream, cache):
    inv = 1 / np.sqrt(cache["var"] + cache["eps"])
    n = (cache["x"] - cache["mean"]) * inv
    g = upstream * cache["scale"]
    D = g.shape[-1]
    full = np.eye(D) - 1 / D - np.einsum("bti,btj->btij", n, n) / D if D < 64 else None
    dx = (
        inv * np.einsum("btij,btj->bti", full, g)
        if full is not None
        else inv * (g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True))
    )
    return {"dscale": (upstream * n).sum((0, 1)), "dshift": upstream.sum((0, 1)), "dx": dx}
