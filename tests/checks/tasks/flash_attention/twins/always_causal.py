# style: causal alone, without a switch
# skips: causal_skip (no switch)
# only: nan_masked_tiles, accuracy, causal_skip
import numpy as np


def causal_flash_attention(Q, K, V, tile_size):
    B, H, N, D = Q.shape
    O = np.zeros((B, H, N, D), Q.dtype)
    for b in range(B):
        for h in range(H):
            for i in range(0, N, tile_size):
                rows = np.arange(i, min(i + tile_size, N))
                m, l = np.full(len(rows), -np.inf), np.zeros(len(rows))
                out = np.zeros((len(rows), D))
                for j in range(0, rows[-1] + 1, tile_size):
                    cols = np.arange(j, min(j + tile_size, N))
                    s = np.where(cols > rows[:, None], -np.inf, Q[b, h, rows] @ K[b, h, cols].T / np.sqrt(D))
                    top = np.maximum(m, s.max(1))
                    safe = np.where(np.isneginf(top), 0.0, top)
                    p, fall = np.exp(s - safe[:, None]), np.exp(m - safe)
                    l, out, m = l * fall + p.sum(1), out * fall[:, None] + p @ V[b, h, cols], top
                O[b, h, rows] = out / np.where(l > 0, l, 1.0)[:, None]
    return O
