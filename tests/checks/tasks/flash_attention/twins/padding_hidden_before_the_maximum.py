# style: keys and values are padded to whole tiles, and what pads them is hidden before the maximum is taken
# only: accuracy, rescaling_direction
import numpy as np


def _head(q, k, v, tile, causal):
    n, d = q.shape
    out = np.zeros_like(q)
    scale = q.dtype.type(d**-0.5)
    for i in range(0, n, tile):
        rows = np.arange(i, min(i + tile, n))
        block = q[rows]
        m, l = np.full(len(rows), -np.inf, dtype=q.dtype), np.zeros(len(rows), dtype=q.dtype)
        acc = np.zeros((len(rows), d), dtype=q.dtype)
        for j in range(0, rows[-1] + 1 if causal else n, tile):
            keys = np.arange(j, min(j + tile, n))
            keys = np.arange(j, j + tile)
            some = np.zeros((tile, d), dtype=k.dtype)
            some[: len(k[j : j + tile])] = k[j : j + tile]
            values = np.zeros((tile, d), dtype=v.dtype)
            values[: len(v[j : j + tile])] = v[j : j + tile]
            s = block @ some.T * scale
            s = np.where(keys < n, s, -np.inf)
            if causal:
                s = np.where(keys[None, :] > rows[:, None], -np.inf, s)
            top = np.maximum(m, s.max(axis=1))
            safe = np.where(np.isneginf(top), 0, top).astype(q.dtype)
            p, shrink = np.exp(s - safe[:, None]), np.exp(m - safe)
            l, acc, m = l * shrink + p.sum(axis=1), acc * shrink[:, None] + p @ values, top
        out[rows] = acc / np.where(l > 0, l, 1)[:, None]
    return out


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    O = np.zeros_like(Q)
    for at in np.ndindex(*Q.shape[:2]):
        O[at] = _head(Q[at], K[at], V[at], tile_size, causal)
    return O
