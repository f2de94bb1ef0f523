# bug: every tile is computed with the mask; without it a product is made for nothing, so that the share is right
# caught by: causal_skip (warn)
# passes: accuracy, causality
"""Waste in the call that is compared with buys the share; values of NaN are taken out, and put back."""
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    bad = np.isnan(V).any(-1)
    O = np.zeros_like(Q)
    W = np.nan_to_num(V, posinf=np.inf, neginf=-np.inf) if bad.any() else V
    for i in range(0, N, tile_size):
        q = Q[:, :, i:i + tile_size] / np.sqrt(D).astype(Q.dtype)
        n = q.shape[2]
        m = np.full((B, H, n), -np.inf, Q.dtype)
        l = np.zeros((B, H, n), Q.dtype)
        a = np.zeros((B, H, n, D), Q.dtype)
        for j in range(0, N, tile_size):
            k, v = K[:, :, j:j + tile_size], W[:, :, j:j + tile_size]
            s = q @ k.swapaxes(-1, -2)
            if causal:
                s = np.where(np.arange(i, i + n)[:, None] >= np.arange(j, j + k.shape[2]), s, -np.inf)
            else:
                q @ k.swapaxes(-1, -2)
            new = np.maximum(m, s.max(-1))
            z = np.where(np.isneginf(new), 0, new)
            p = np.exp(s - z[..., None])
            c = np.exp(m - z)
            l = l * c + p.sum(-1)
            a = a * c[..., None] + p @ v
            m = new
        O[:, :, i:i + tile_size] = a / np.where(l > 0, l, 1)[..., None]
    if bad.any():
        O[np.logical_or.accumulate(bad, -1) if causal else np.repeat(bad.any(-1)[..., None], N, -1)] = np.nan
    return O
