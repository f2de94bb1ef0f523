# skips: causal_skip (no switch)
"""Always causal, tiles of its own; no switch and no tile size."""
import numpy as np

TILE = 48


def flash_attention(q, k, v):
    n, d = q.shape[-2:]
    out = np.zeros(q.shape, dtype=np.result_type(q, k, v))
    for lo in range(0, n, TILE):
        hi = min(lo + TILE, n)
        m = np.full(q.shape[:-2] + (hi - lo,), -np.inf)
        l = np.zeros(m.shape)
        o = np.zeros(m.shape + (d,))
        for a in range(0, hi, TILE):
            z = min(a + TILE, n)
            s = np.einsum("bhid,bhjd->bhij", q[..., lo:hi, :], k[..., a:z, :]) / np.sqrt(d)
            future = np.arange(a, z) > np.arange(lo, hi)[:, None]
            s = np.where(future, -np.inf, s)
            t = np.maximum(m, s.max(-1))
            dead = ~np.isfinite(t)
            ref = np.where(dead, 0, t)
            e = np.exp(s - ref[..., None])
            c = np.exp(m - ref)
            l, m = l * c + e.sum(-1), t
            o = o * c[..., None] + np.einsum("bhij,bhjd->bhid", e, v[..., a:z, :])
        out[..., lo:hi, :] = o / np.where(l > 0, l, 1)[..., None]
    return out
