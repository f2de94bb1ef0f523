# bug: O is computed in slabs of 16 columns, and every slab is stored at column 0
# caught by: accuracy
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
            s = block @ k[keys].T * scale
            if causal:
                s = np.where(keys[None, :] > rows[:, None], -np.inf, s)
            top = np.maximum(m, s.max(axis=1))
            safe = np.where(np.isneginf(top), 0, top).astype(q.dtype)
            p, shrink = np.exp(s - safe[:, None]), np.exp(m - safe)
            l, acc, m = l * shrink + p.sum(axis=1), acc * shrink[:, None] + p @ v[keys], top
        done = acc / np.where(l > 0, l, 1)[:, None]
        for c in range(0, d, 16):
            slab = done[:, c : c + 16]
            out[rows, : slab.shape[1]] = slab
    return out


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    O = np.zeros_like(Q)
    for at in np.ndindex(*Q.shape[:2]):
        O[at] = _head(Q[at], K[at], V[at], tile_size, causal)
    return O
