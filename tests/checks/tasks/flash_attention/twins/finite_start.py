# style: the running maximum begins at a finite number below every score of double precision
import numpy as np

LOWEST = -1e300


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    B, H, N, D = Q.shape
    out = np.empty_like(Q)
    for start in range(0, N, tile_size):
        q = Q[:, :, start : start + tile_size] / np.sqrt(D)
        rows = np.arange(start, start + q.shape[2])
        m = np.full((B, H, len(rows), 1), LOWEST)
        l, o = np.zeros_like(m), np.zeros_like(q)
        for at in range(0, rows[-1] + 1 if causal else N, tile_size):
            k, v = K[:, :, at : at + tile_size], V[:, :, at : at + tile_size]
            s = q @ k.swapaxes(-2, -1)
            if causal:
                s = np.where(np.arange(at, at + k.shape[2]) <= rows[:, None], s, -np.inf)
            new = np.maximum(m, s.max(-1, keepdims=True))
            p, a = np.exp(s - new), np.exp(m - new)
            m, l, o = new, l * a + p.sum(-1, keepdims=True), o * a + p @ v
        out[:, :, start : start + tile_size] = o / np.maximum(l, 1e-300)
    return out
