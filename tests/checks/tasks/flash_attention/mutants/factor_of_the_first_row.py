# bug: O is rescaled by the factor of the first row of a tile
# caught by: accuracy
# only: accuracy, causality
import numpy as np



def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros((B, H, N, D), Q.dtype)
    for b in range(B):
        for h in range(H):
            for i in range(0, N, tile_size):
                rows = np.arange(i, min(i + tile_size, N))
                m, l = np.full(len(rows), -np.inf), np.zeros(len(rows))
                out = np.zeros((len(rows), D))
                for j in range(0, rows[-1] + 1 if causal else N, tile_size):
                    cols = np.arange(j, min(j + tile_size, N))
                    s = Q[b, h, rows] @ K[b, h, cols].T / np.sqrt(D)
                    if causal:
                        s = np.where(cols > rows[:, None], -np.inf, s)
                    top = np.maximum(m, s.max(1))
                    safe = np.where(np.isneginf(top), 0.0, top)
                    p, fall = np.exp(s - safe[:, None]), np.exp(m - safe)
                    l, out, m = l * fall + p.sum(1), out * fall[0] + p @ V[b, h, cols], top
                O[b, h, rows] = out / np.where(l > 0, l, 1.0)[:, None]
    return O
