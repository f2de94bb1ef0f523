# bug: O is kept normalised, and divided by l = 0 after a first tile without a visible key
# caught by: nan_masked_tiles, masked_rows
# passes: gradients, logsumexp, accuracy
from collections import namedtuple

import numpy as np

Saved = namedtuple("Saved", "q k v o lse")


def _tile(q, k, first, start, causal):
    s = np.matmul(q, np.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5
    if causal:
        s[..., np.arange(start, start + k.shape[-2])[None] > np.arange(first, first + q.shape[-2])[:, None]] = -np.inf
    return s


def attention_fwd(q, k, v, chunk, causal=True):
    n = q.shape[-2]
    o, lse = np.zeros(q.shape), np.full(q.shape[:-1], -np.inf)
    for first in range(0, n, chunk):
        rows = slice(first, min(n, first + chunk))
        for start in range(0, rows.stop if causal else n, chunk):
            s = _tile(q[:, :, rows], k[:, :, start:start + chunk], first, start, causal)
            new = np.logaddexp(lse[:, :, rows], np.logaddexp.reduce(s, axis=-1))
            p = np.exp(s - new[..., None])
            o[:, :, rows] = o[:, :, rows] * np.exp(lse[:, :, rows] - new)[..., None] + p @ v[:, :, start:start + chunk]
            lse[:, :, rows] = new
    return o, Saved(q, k, v, o, lse)


def attention_bwd(d_out, saved, chunk, causal=True):
    q, k, v, o, lse = saved
    n, scale = q.shape[-2], q.shape[-1] ** -0.5
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    total = (d_out * o).sum(-1, keepdims=True)
    for start in range(0, n, chunk):
        cols = slice(start, min(n, start + chunk))
        for first in range(0, n, chunk):
            rows = slice(first, min(n, first + chunk))
            if causal and rows.stop <= start:
                continue
            p = np.exp(_tile(q[:, :, rows], k[:, :, cols], first, start, causal) - lse[:, :, rows, None])
            ds = scale * p * (d_out[:, :, rows] @ np.swapaxes(v[:, :, cols], -1, -2) - total[:, :, rows])
            dv[:, :, cols] += np.swapaxes(p, -1, -2) @ d_out[:, :, rows]
            dk[:, :, cols] += np.swapaxes(ds, -1, -2) @ q[:, :, rows]
            dq[:, :, rows] += ds @ k[:, :, cols]
    return {"dq": dq, "dk": dk, "dv": dv}
