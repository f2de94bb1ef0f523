# style: padded tiles as strided views, ufunc methods with out=, putmask, tensordot
"""Tiles as strided views (padded to full tiles); reductions by ufunc methods."""
import numpy as np
from numpy.lib.stride_tricks import as_strided


def _pad(x, t):
    n = x.shape[2]
    extra = -n % t
    return np.pad(x, ((0, 0), (0, 0), (0, extra), (0, 0)))


def _view(x, t):
    b, h, n, d = x.shape
    sb, sh, sn, sd = x.strides
    return as_strided(x, (b, h, n // t, t, d), (sb, sh, sn * t, sn, sd), writeable=False)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    N = Q.shape[2]
    t = min(tile_size, N)
    qs, ks, vs = (_view(_pad(x, t), t) for x in (Q, K, V))
    out = np.zeros(qs.shape, Q.dtype)
    blocks = qs.shape[2]
    col = np.arange(t)
    for i in range(blocks):
        m = np.full(qs.shape[:2] + (t, 1), -np.inf, Q.dtype)
        l = np.zeros_like(m)
        for j in range(i + 1 if causal else blocks):
            s = np.tensordot(qs[:, :, i], ks[0, 0, j].T, 1) if qs.shape[:2] == (1, 1) else np.matmul(qs[:, :, i], ks[:, :, j].swapaxes(-1, -2))
            s = np.divide(s, np.sqrt(Q.shape[-1]), dtype=Q.dtype)
            dead = (j * t + col >= N)[None, :]
            if causal:
                dead = dead | (j * t + col[None, :] > i * t + col[:, None])
            np.putmask(s, np.broadcast_to(dead, s.shape), -np.inf)
            new = np.maximum(m, np.maximum.reduce(s, axis=-1, keepdims=True))
            ref = np.where(new == -np.inf, 0, new).astype(Q.dtype)
            p = np.exp(np.subtract(s, ref, out=s), out=s)
            c = np.exp(m - ref)
            l = np.add(np.multiply(l, c), np.add.reduce(p, axis=-1, keepdims=True))
            out[:, :, i] = out[:, :, i] * c + p @ vs[:, :, j]
            m = new
        np.divide(out[:, :, i], l, out=out[:, :, i], where=l > 0)
    return out.reshape(Q.shape[0], Q.shape[1], -1, Q.shape[3])[:, :, :N]
