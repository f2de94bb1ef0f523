# style: refuses everything that is not exactly an ndarray; floating-point errors raise
# skips: causal_skip (takes no arrays that count)
"""Strict about its inputs; floating-point errors are exceptions."""
import numpy as np

np.seterr(divide="raise", invalid="raise", over="raise", under="ignore")


def _check(name, x):
    if type(x) is not np.ndarray:
        raise TypeError(f"{name} must be a numpy.ndarray, not {type(x).__name__}")
    if x.ndim != 4:
        raise ValueError(f"{name} must be (B, H, N, D)")
    if x.dtype not in (np.dtype("float32"), np.dtype("float64")):
        raise TypeError(f"{name} must be float32 or float64")


def flash_attention_fwd(Q, K, V, tile_size: int = 64, causal: bool = True) -> np.ndarray:
    for name, x in zip("QKV", (Q, K, V)):
        _check(name, x)
    B, H, N, D = Q.shape
    O = np.empty_like(Q)
    scale = Q.dtype.type(D) ** Q.dtype.type(-0.5)
    for lo in range(0, N, tile_size):
        hi = min(lo + tile_size, N)
        rows = np.arange(lo, hi)
        acc, den, top = None, None, None
        for left in range(0, hi if causal else N, tile_size):
            right = min(left + tile_size, N)
            with np.errstate(over="ignore", invalid="ignore"):
                s = np.einsum("bhid,bhjd->bhij", Q[:, :, lo:hi], K[:, :, left:right]) * scale
            if causal:
                s = np.where(rows[:, None] >= np.arange(left, right)[None, :], s, -np.inf)
            tile_top = s.max(axis=3)
            if top is None:
                new = tile_top
            else:
                new = np.maximum(top, tile_top)
            shift = np.where(new == -np.inf, 0, new)
            p = np.where(s == -np.inf, 0, np.exp(np.where(s == -np.inf, 0, s) - np.where(s == -np.inf, 0, shift[..., None])))
            pv = np.einsum("bhij,bhjd->bhid", p, V[:, :, left:right])
            if top is None:
                acc, den = pv, p.sum(3)
            else:
                f = np.where(top == -np.inf, 0, np.exp(np.where(top == -np.inf, 0, top - shift)))
                acc = acc * f[..., None] + pv
                den = den * f + p.sum(3)
            top = new
        O[:, :, lo:hi] = np.where(den[..., None] > 0, acc / np.where(den > 0, den, 1)[..., None], 0)
    return O
