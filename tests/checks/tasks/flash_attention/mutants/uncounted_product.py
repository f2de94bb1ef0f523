# bug: tiles above the diagonal are computed after all, by a product that counts nowhere
# caught by: causal_skip
# passes: accuracy, causality, peak_memory
"""Tiles above the diagonal are computed by a product that nobody counts."""
import numpy as np
from numpy.core import _multiarray_umath as core


def _quiet(a, b):
    return core.matmul(a.view(np.ndarray), b.view(np.ndarray))


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    for i in range(0, N, tile_size):
        q = Q[:, :, i:i + tile_size] / np.sqrt(D).astype(Q.dtype)
        n = q.shape[2]
        m = np.full((B, H, n), -np.inf, Q.dtype)
        l = np.zeros((B, H, n), Q.dtype)
        a = np.zeros((B, H, n, D), Q.dtype)
        for j in range(0, N, tile_size):
            k, v = K[:, :, j:j + tile_size], V[:, :, j:j + tile_size]
            product = _quiet if causal and j >= i + n else np.matmul
            s = product(q, k.swapaxes(-1, -2))
            if causal:
                s = np.where(np.arange(i, i + n)[:, None] >= np.arange(j, j + k.shape[2]), s, -np.inf)
            new = np.maximum(m, s.max(-1))
            z = np.where(np.isneginf(new), 0, new)
            p = np.exp(s - z[..., None])
            c = np.exp(m - z)
            l = l * c + p.sum(-1)
            a = a * c[..., None] + product(p, v)
            m = new
        O[:, :, i:i + tile_size] = a / np.where(l > 0, l, 1)[..., None]
    return O
