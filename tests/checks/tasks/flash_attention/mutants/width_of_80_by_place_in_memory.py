# bug: heads of width 80 have a path of their own, which takes arrays for C-contiguous
# caught by: accuracy
# only: accuracy, rescaling_direction
import numpy as np


def head(x, b, h):
    return x[b, h]


def packed_head(x, b, h):
    """(N, D) by its place in memory; the last stride is one."""
    _, heads, n, d = x.shape
    flat = np.lib.stride_tricks.as_strided(x, (x.size,), (x.itemsize,))
    at = (b * heads + h) * n * d
    return flat[at : at + n * d].reshape(n, d)


def attend(q, k, v, tile, causal):
    n, d = q.shape
    m, l, o = np.full(n, -np.inf), np.zeros(n), np.zeros((n, d))
    for c in range(0, n, tile):
        s = q @ k[c : c + tile].T / np.sqrt(d)
        if causal:
            s = np.where(np.arange(n)[:, None] >= np.arange(c, c + s.shape[1]), s, -np.inf)
        new = np.maximum(m, s.max(axis=1))
        base = np.where(np.isfinite(new), new, 0.0)
        p, share = np.exp(s - base[:, None]), np.exp(m - base)
        m, l, o = new, l * share + p.sum(axis=1), o * share[:, None] + p @ v[c : c + tile]
    return o / l[:, None]


def flash_attention(q, k, v, tile_size=16, causal=True):
    q, k, v = (x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x) for x in (q, k, v))
    batch, heads, _, width = q.shape
    view = packed_head if width == 80 else head
    out = np.empty(q.shape)
    for b in range(batch):
        for h in range(heads):
            out[b, h] = attend(*(view(x, b, h) for x in (q, k, v)), tile_size, causal)
    return out
